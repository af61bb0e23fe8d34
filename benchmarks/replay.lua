-- wrk: send the requests of a file one after the other, and print what came of them as JSON.
-- The file holds whole HTTP/1.1 requests, each ended by a zero byte. When all are sent, it starts again.
-- With a second argument each connection waits about so many milliseconds before each request.

local requests, next_one, pause = {}, 0, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for one in file:read("*a"):gmatch("([^%z]+)%z") do
    requests[#requests + 1] = one
  end
  file:close()
  pause = tonumber(arguments[2] or 0)
  if pause > 0 then
    delay = function() return math.random(math.floor(pause / 2), math.floor(pause * 3 / 2)) end
  end
end

function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end

function done(summary, latency)
  local errors = summary.errors
  local format = '{"answers": %d, "microseconds": %d, "refused": %d, "broken": %d,'
    .. ' "p50": %f, "p95": %f, "p99": %f}\n'
  io.write(string.format(format, summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end

"""Load from `wrk`, a generator that costs far less than what it measures."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

REPLAY = Path(__file__).with_name("replay.lua")


@dataclass(frozen=True)
class Load:
    """What one run of wrk saw. Times in seconds; the percentiles are of the answers' latency."""

    answers: int
    seconds: float
    p50: float
    p95: float
    p99: float

    @property
    def rate(self) -> float:
        return self.answers / self.seconds

    def proven(self, shown: int, connections: int) -> Self:
        """This load, when the table shows as many calls carried out as were answered; else it raises.

        Calls that were on their way when wrk stopped counting were carried out too.
        """
        if not 0 <= shown - self.answers <= 2 * connections:
            raise RuntimeError(f"{self.answers} answers, but {shown} in the table")
        return self


def wrk() -> str:
    found = shutil.which("wrk")
    if not found:
        raise SystemExit("wrk is missing: apt install wrk")
    return found


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def replay(url: str, requests: Iterable[bytes], connections: int, seconds: int, *, pause_milliseconds: int = 0) -> Load:
    """Send the requests in order over so many connections for so long. Raises when one is not answered with a 2xx."""
    with tempfile.NamedTemporaryFile(suffix=".requests") as file:
        for request in requests:
            file.write(request + b"\0")
        file.flush()
        command = [wrk(), "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(REPLAY), url, "--", file.name]
        command.append(str(pause_milliseconds))
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    if seen["refused"] or seen["broken"]:
        raise RuntimeError(f"{seen['refused']} calls were refused and {seen['broken']} not answered")
    return Load(seen["answers"], seen["microseconds"] / 1e6, *(seen[name] / 1e6 for name in ("p50", "p95", "p99")))

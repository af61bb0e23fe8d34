"""A TCP proxy between the spiders and the services, which does to their requests what a bad network does.

It reads one HTTP request a connection, and hands it to one of the services over a connection of its own, so that
a request can be lost, cut in two, delivered twice, or answered without the answer ever arriving.
"""

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable
from queue import Queue

HEAD_END = b"\r\n\r\n"
CONNECT_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 1.0
FAULTS = ("delay", "lost", "cut", "half_answer", "no_answer", "twice")


class Proxy:
    """Listens on a free port of loopback, in a thread of its own, until closed."""

    def __init__(self, targets: Callable[[], list[int]], seed: int, share_of_faults: float) -> None:
        self._targets = targets
        self._random = random.Random(seed)
        self._share = share_of_faults
        self.faults: Counter[str] = Counter()
        self.requests = 0
        # Or a task whose both connections are gone is collected while it waits.
        self._under_way: set[asyncio.Task[None] | None] = set()
        listening: Queue[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Queue()
        self._thread = threading.Thread(target=asyncio.run, args=[self._live(listening)])
        self._thread.start()
        port, self._loop, self._over = listening.get()
        self.url = f"http://127.0.0.1:{port}"

    async def _live(self, listening: "Queue[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
        over = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        listening.put((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), over))
        async with server:
            await over.wait()

    def calm(self) -> None:
        """No more faults from now on."""
        self._share = 0.0

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._under_way.add(asyncio.current_task())
        try:
            if request := await _read_request(reader):
                self.requests += 1
                answer = await self._hand_on(request)
                if answer is not None:
                    writer.write(answer)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            # A side that was killed: what the proxy is there for.
            pass
        finally:
            self._under_way.discard(asyncio.current_task())
            writer.close()

    async def _hand_on(self, request: bytes) -> bytes | None:
        """The answer to give; None closes the connection without one, as does the end of every answer."""
        fault = self._random.choice(FAULTS) if self._random.random() < self._share else ""
        if fault:
            self.faults[fault] += 1
        if fault == "lost":
            return None
        if fault == "delay":
            await asyncio.sleep(self._random.uniform(0, LONGEST_DELAY_SECONDS))
        if fault == "cut":
            await self._deliver(request[: len(request) // 2], half=True)
            return None
        answer = await self._deliver(request)
        if fault == "twice":
            answer = await self._deliver(request)
        if fault == "no_answer":
            return None
        return answer[: len(answer) // 2] if fault == "half_answer" and answer else answer

    async def _deliver(self, request: bytes, half: bool = False) -> bytes | None:
        ports = self._targets()
        self._random.shuffle(ports)
        for port in ports:
            try:
                reader, writer = await asyncio.wait_for(
                    asyncio.open_connection("127.0.0.1", port), timeout=CONNECT_SECONDS
                )
            except (OSError, TimeoutError):
                continue
            try:
                writer.write(request.replace(HEAD_END, b"\r\nConnection: close" + HEAD_END, 1))
                if half:
                    return None
                return await reader.read(-1) or None
            except OSError:
                return None
            finally:
                writer.close()
        return None


async def _read_request(reader: asyncio.StreamReader) -> bytes | None:
    try:
        head = await reader.readuntil(HEAD_END)
    except asyncio.IncompleteReadError:
        return None
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join(lines) + await reader.readexactly(length)

"""A plain load balancer: hands each new connection to the next service that its last check found ready."""

import asyncio
import threading
from contextlib import suppress
from queue import Queue

import httpx

CHECK_SECONDS = 0.1


class Balancer:
    """Listens on a free port of loopback, in a thread of its own, until closed. It repeats nothing."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self.ready: set[int] = set()
        self._turns = 0
        listening: Queue[int] = Queue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._live(listening)])
        self._thread.start()
        self.url = f"http://127.0.0.1:{listening.get()}"

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _live(self, listening: "Queue[int]") -> None:
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        checks = [asyncio.create_task(self._check(port)) for port in self._ports]
        listening.put(server.sockets[0].getsockname()[1])
        await self._over.wait()
        for check in checks:
            check.cancel()
        server.close()

    async def _check(self, port: int) -> None:
        async with httpx.AsyncClient() as client:
            while True:
                ready = False
                with suppress(httpx.TransportError):
                    ready = (await client.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200
                (self.ready.add if ready else self.ready.discard)(port)
                await asyncio.sleep(CHECK_SECONDS)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ready = sorted(self.ready)
        self._turns += 1
        with suppress(OSError, IndexError, ZeroDivisionError):
            there = await asyncio.open_connection("127.0.0.1", ready[self._turns % len(ready)])
            await asyncio.gather(_pass_on(reader, there[1]), _pass_on(there[0], writer))
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()

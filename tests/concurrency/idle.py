"""`python -m tests.concurrency.idle --pollers 500`: what a claim costs while many spiders ask a source that is empty.

Each poller keeps its connection and asks for a keyword of `boss`, which has none, again and again; one spider claims
keywords of `zhilian` meanwhile, which has plenty. Prints milliseconds, with no pollers first.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import httpx

from tests import mariadb
from tests.concurrency.load import API
from tests.service_process import running_service

CLAIMS = 1_000
KEYWORDS = 9_000


class Poller:
    """One kept connection to the service, on which claims are asked for; bare, so that it costs little itself."""

    def __init__(self, port: int, source: str, name: str) -> None:
        self._port = port
        query = f"source={source}&reserve=true&crawler_id={name}"
        self._request = f"GET {API}/available?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        self.milliseconds: list[float] = []

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def claim(self) -> bool:
        """Whether there was a keyword; raises when the answer is not 200."""
        began = time.perf_counter()
        self._writer.write(self._request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        if not head.startswith("http/1.1 200"):
            raise RuntimeError(head)
        body = await self._reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
        self.milliseconds.append(1000 * (time.perf_counter() - began))
        return b'"claim_token":"' in body

    async def poll(self, pause: float, first: float) -> None:
        """Ask for ever, with this pause between the questions; the first after a part of it."""
        await asyncio.sleep(first)
        while True:
            if await self.claim():
                raise RuntimeError("an empty source handed out a keyword")
            await asyncio.sleep(pause)


async def measure(port: int, pollers: int, pause: float) -> tuple[Poller, list[Poller]]:
    """One spider's claims while so many pollers ask."""
    spider = Poller(port, "zhilian", "spider")
    idle = [Poller(port, "boss", f"idle-{number}") for number in range(pollers)]
    for each in (spider, *idle):
        await each.connect()
    tasks = [asyncio.create_task(each.poll(pause, pause * place / pollers)) for place, each in enumerate(idle)]
    won = 0
    for _ in range(CLAIMS):
        won += await spider.claim()
        await asyncio.sleep(0.01)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    if won != CLAIMS:
        raise RuntimeError(f"only {won} of {CLAIMS} claims brought a keyword")
    return spider, idle


def told(milliseconds: list[float]) -> str:
    cuts = quantiles(milliseconds, n=100)
    return f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms of {len(milliseconds)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pollers", type=int, default=500)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between the questions of one poller")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="idle-") as folder,
        mariadb.server() as server,
        mariadb.temporary_database(server) as url,
        running_service(url, Path(folder) / "log", LOG_LEVEL="WARNING") as service,
    ):
        keywords = [{"city": "北京", "job": f"job {number}"} for number in range(KEYWORDS)]
        body = {"source": "zhilian", "keywords": keywords}
        httpx.post(f"{service.url}{API}/bulk", json=body, timeout=60).raise_for_status()
        for pollers in (0, given.pollers):
            spider, idle = asyncio.run(measure(service.port, pollers, given.pause))
            print(f"{pollers} idle pollers: a spider's claim {told(spider.milliseconds)}")
        print(f"the pollers' own empty answers: {told([each for one in idle for each in one.milliseconds])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

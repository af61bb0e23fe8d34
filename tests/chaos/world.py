"""The world that chaos strikes: services, spiders of all boards, the stand-in, the proxy between them, a database."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.proxy import Proxy
from tests.service_process import ROOT, ServiceProcess
from tests.stand_in import Fault, StandIn

SOURCES = ("boss", "qcwy", "zhilian")
# All times are those of production, shortened: a lease of 30 minutes is 12 seconds here.
LEASE_SECONDS = 12
SERVICE = {
    "LEASE_SECONDS": str(LEASE_SECONDS), "STALE_CLEANUP_SECONDS": "2", "SIGN_OF_LIFE_SECONDS": "1",
    "OUTAGE_GRACE_SECONDS": "4", "EMPTY_RETRY_AFTER_SECONDS": "1", "DATABASE_WAIT_SECONDS": "30",
    # Kills strike a keyword more often than spiders die in a month.
    "MAX_RETRIES": "100", "COOLDOWN_FIRST_SECONDS": "1", "COOLDOWN_MAX_SECONDS": "2",
}  # fmt: skip
SPIDER = {
    "SPIDER_PAUSE_MIN_SECONDS": "0.05", "SPIDER_PAUSE_MAX_SECONDS": "0.4", "SPIDER_HEARTBEAT_SECONDS": "2",
    "SPIDER_IDLE_WAIT_SECONDS": "0.5", "SPIDER_IDLE_WAIT_MAX_SECONDS": "1", "SPIDER_TROUBLE_PAUSE_SECONDS": "1",
    "SPIDER_TROUBLE_PAUSE_MAX_SECONDS": "2", "SPIDER_BOARD_BACKOFF_SECONDS": "0.2", "SPIDER_SERVICE_RETRIES": "2",
    "SPIDER_SERVICE_BACKOFF_SECONDS": "0.1", "SPIDER_CONNECT_TIMEOUT_SECONDS": "2", "SPIDER_SLOWER_AFTER_PAGES": "0",
    "SPIDER_READ_TIMEOUT_SECONDS": "3",
}  # fmt: skip
PAGES = 4
PAGE_SIZE = 5
WAVE = 9
API = "/api/v1/keyword"


@dataclass
class Spider:
    """One spider under a stable name; started anew after each kill."""

    source: str
    name: str
    process: "subprocess.Popen[bytes] | None" = None
    # When it was not itself: from a kill or stop to the start or continuation after it.
    disturbed: list[tuple[float, float]] = field(default_factory=list)

    @property
    def is_disturbed(self) -> bool:
        return any(end > time.time() for _, end in self.disturbed)


class World:
    """Everything that runs. Events act on it; the auditor reads what it leaves behind in `folder`."""

    def __init__(self, folder: Path, database_url: str, seed: int, services: int, share_of_faults: float) -> None:
        self.folder = folder
        self.database_url = database_url
        self.board = StandIn(pages=PAGES, page_size=PAGE_SIZE, log=folder / "access.jsonl")
        self.services: list[ServiceProcess | None] = [None] * services
        self.proxy = Proxy(self.ports, seed, share_of_faults)
        self.spiders = [Spider(source, f"{source}-{number}") for source in SOURCES for number in (1, 2)]
        self.keywords: list[tuple[str, str]] = []
        self.events: list[tuple[float, str]] = []
        # Keyword held at a kill of its spider, with the moment.
        self.kills: list[tuple[float, str, int]] = []
        self.stopping = False

    def __enter__(self) -> "World":
        self.board.__enter__()
        for number in range(len(self.services)):
            self.start_service(number)
        for spider in self.spiders:
            self.start_spider(spider)
        return self

    def __exit__(self, *_: object) -> None:
        for spider in self.spiders:
            if spider.process and spider.process.poll() is None:
                spider.process.send_signal(signal.SIGCONT)
                spider.process.kill()
                spider.process.wait()
        for service in self.services:
            if service and service.process.poll() is None:
                service.process.kill()
                service.process.wait()
        self.proxy.close()
        self.board.__exit__()

    def note(self, event: str) -> None:
        self.events.append((time.time(), event))
        with (self.folder / "events.log").open("a", encoding="utf-8") as log:
            log.write(f"{time.time():.3f} {event}\n")

    def ports(self) -> list[int]:
        return [service.port for service in self.services if service]

    def start_service(self, number: int) -> None:
        log = self.folder / f"service-{number}.log"
        self.services[number] = ServiceProcess(self.database_url, log, "tests.stepped_service", **SERVICE)
        service = self.services[number]
        assert service
        service.await_ready()

    def kill_service(self, number: int) -> None:
        service, self.services[number] = self.services[number], None
        if service:
            service.kill()

    def start_spider(self, spider: Spider, **settings: str) -> None:
        prefix = spider.source.upper()
        environment = {
            **os.environ,
            **SPIDER,
            "SPIDER_ID": spider.name,
            "SPIDER_BASE_URL": self.proxy.url,
            "SPIDER_OUTPUT_DIR": str(self.folder / "jobs"),
            f"{prefix}_SEARCH_URL": self.board.search_url(spider.source),
            f"{prefix}_PAGE_LIMIT": str(PAGES),
            f"{prefix}_REQUESTS_PER_MINUTE": "6000",
            **settings,
        }
        with (self.folder / f"{spider.name}.log").open("ab") as log:
            spider.process = subprocess.Popen(
                [sys.executable, "-m", "jobs_spider", spider.source],
                cwd=ROOT, env=environment, stdout=log, stderr=log,
            )  # fmt: skip

    def stop_and_ask(self, spider: Spider) -> int | None:
        """Stop a spider where it is; which keyword it holds."""
        assert spider.process
        spider.process.send_signal(signal.SIGSTOP)
        return self.held_by(spider)

    def go_on(self, spider: Spider) -> None:
        assert spider.process
        spider.process.send_signal(signal.SIGCONT)

    def kill_spider(self, spider: Spider, held: int | None) -> float:
        """SIGKILL; the moment. What it held is noted."""
        assert spider.process
        spider.process.kill()
        spider.process.wait()
        moment = time.time()
        if held is not None:
            self.kills.append((moment, spider.source, held))
        return moment

    def held_by(self, spider: Spider) -> int | None:
        for service in self.services:
            query = {"source": spider.source, "crawler_id": spider.name, "status": "crawling"}
            with suppress(httpx.HTTPError, AttributeError, ValueError, KeyError):
                items = httpx.get(f"{service.url}{API}", params=query, timeout=2).json()["data"]["items"]  # type: ignore[union-attr]
                return items[0]["id"] if items else None
        return None

    def mend_spiders(self) -> None:
        """Start those that have left by themselves, as a supervisor would."""
        for spider in self.spiders:
            if spider.process and spider.process.poll() is not None and not self.stopping:
                self.note(f"spider {spider.name} left with {spider.process.returncode}, started again")
                self.start_spider(spider)

    def add_wave(self) -> None:
        number = len(self.keywords) // (WAVE * len(SOURCES))
        for source in SOURCES:
            jobs = [f"wave {number} job {place}" for place in range(WAVE)]
            self.persist(lambda source=source, jobs=jobs: self._post_bulk(source, jobs))  # type: ignore[misc]
            self.keywords += [(source, job) for job in jobs]

    def _post_bulk(self, source: str, jobs: list[str]) -> None:
        keywords = [{"city": "北京", "job": job} for job in jobs]
        url = f"http://127.0.0.1:{self.ports()[0]}{API}/bulk"
        httpx.post(url, json={"source": source, "keywords": keywords}, timeout=10).raise_for_status()

    def listed(self) -> list[dict[str, Any]]:
        """All keywords as the service tells of them."""
        items: list[dict[str, Any]] = []
        for source in SOURCES:
            cursor = "0"
            while cursor:
                url = f"http://127.0.0.1:{self.ports()[0]}{API}"
                query = {"source": source, "limit": "500", "cursor": cursor}
                data = httpx.get(url, params=query, timeout=10).raise_for_status().json()["data"]
                items += data["items"]
                cursor = data["next_cursor"]
        return items

    def undone(self) -> int:
        """Keywords that are not completed; all of them while nobody can be asked."""
        with suppress(httpx.HTTPError, IndexError):
            return sum(item["status"] != "completed" for item in self.listed())
        return len(self.keywords)

    def persist(self, call: Callable[[], object], seconds: float = 60.0) -> None:
        """Make a call of our own until it is answered: the services may be away."""
        give_up_at = time.monotonic() + seconds
        while True:
            try:
                call()
                return
            except (httpx.HTTPError, IndexError):
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.2)

    def add_board_fault(self, fault: Fault) -> None:
        self.board.add_fault(fault)

    def stored(self) -> list[dict[str, Any]]:
        files = sorted((self.folder / "jobs").glob("*.jsonl"))
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return [json.loads(line) for line in lines]

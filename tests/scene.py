"""A running service, the stand-in for the boards, and spiders that are started as users start them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from jobs_spider.cities import CityTable
from jobs_spider.kinds import START_FILES
from tests.service_process import ROOT, ServiceProcess
from tests.stand_in import BY_SOURCE, StandIn

PATIENCE_SECONDS = 60


class Scene:
    """One board's part of the world. `source` may be changed before anything else is done."""

    def __init__(self, service: ServiceProcess, board: StandIn, folder: Path, source: str = "boss") -> None:
        self.service = service
        self.board = board
        self.folder = folder
        self.source = source
        self.spiders: list[subprocess.Popen[bytes]] = []

    def add(self, *jobs: str, city: str = "北京") -> None:
        keywords = [{"city": city, "job": job} for job in jobs]
        httpx.post(f"{self.service.url}/api/v1/keyword/bulk", json={"source": self.source, "keywords": keywords})

    def keyword(self, job: str) -> dict[str, Any]:
        query = {"source": self.source, "job": job}
        items = httpx.get(f"{self.service.url}/api/v1/keyword", params=query).json()["data"]["items"]
        keyword: dict[str, Any] = items[0]
        return keyword

    def start_spider(self, *options: str, spider_id: str | None = None, **settings: str) -> subprocess.Popen[bytes]:
        prefix = self.source.upper()
        environment = {
            **os.environ,
            "SPIDER_BASE_URL": self.service.url,
            "SPIDER_OUTPUT_DIR": str(self.folder / "jobs"),
            "SPIDER_PAUSE_MIN_SECONDS": "0",
            "SPIDER_PAUSE_MAX_SECONDS": "0",
            f"{prefix}_SEARCH_URL": self.board.search_url(self.source),
            f"{prefix}_SEARCH_PAGE_URL": self.board.page_url(self.source),
            f"{prefix}_REQUESTS_PER_MINUTE": "6000",
            **({"SPIDER_ID": spider_id} if spider_id else {}),
            **settings,
        }
        start_file = START_FILES[self.source].replace(".", "/") + ".py"
        with (self.folder / "spider.log").open("ab") as log:
            spider = subprocess.Popen(
                [sys.executable, start_file, *options], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        self.spiders.append(spider)
        return spider

    def run_spider(self, *options: str, spider_id: str | None = None, **settings: str) -> int:
        return self.start_spider(*options, spider_id=spider_id, **settings).wait(timeout=PATIENCE_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, (self.folder / "spider.log").read_text()[-3000:]
            time.sleep(0.02)

    def expected_ids(self, *jobs: str, pages: int = 3, city: str = "北京") -> list[str]:
        """The ids of all jobs that the stand-in holds for these keywords."""
        code, board = CityTable(self.source).code(city), BY_SOURCE[self.source]
        size = self.board.shape.page_size
        return [
            identity for job in jobs for page in range(1, pages + 1) for identity in board.ids(code, job, page, size)
        ]

    def stored(self) -> list[dict[str, Any]]:
        files = (self.folder / "jobs").glob("*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    def stored_ids(self) -> list[str]:
        return [job["job_id"] for job in self.stored()]

    def log(self) -> str:
        return (self.folder / "spider.log").read_text(encoding="utf-8")

    def end(self) -> None:
        """Kill what is still running."""
        for spider in self.spiders:
            if spider.poll() is None:
                spider.kill()
                spider.wait()

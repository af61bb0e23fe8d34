"""`make demo`: a spider is killed in the middle of a keyword, and the keyword goes on at its next page.

The service and two Boss spiders are the real ones; the board is the stand-in of the tests. The first spider is killed
(SIGKILL) once it has reported its second page, and started again under the same SPIDER_ID. At the end the stand-in's
access log tells which pages were asked for, and how often.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.live import Live
from rich.table import Table

from tests.service_process import ROOT, ServiceProcess, running_service
from tests.stand_in import StandIn

KEYWORDS = [("北京", "Python"), ("上海", "Java"), ("广州", "C++"), ("深圳", "数据分析")]
PAGES = 5
PATIENCE_SECONDS = 60
VICTIM = "demo-1"


class Demo:
    def __init__(self, folder: Path, service: ServiceProcess, board: StandIn, console: Console) -> None:
        self.folder = folder
        self.service = service
        self.board = board
        self.console = console
        self.spiders: dict[str, subprocess.Popen[bytes]] = {}
        self.killed_at: dict[str, Any] | None = None
        self.back = False

    def api(self, path: str, body: dict[str, Any] | None = None) -> Any:
        url = f"{self.service.url}/api/v1/keyword{path}"
        response = httpx.post(url, json=body) if body else httpx.get(url)
        return response.raise_for_status().json()["data"]

    def start_spider(self, name: str) -> None:
        environment = {
            **os.environ,
            "SPIDER_ID": name,
            "SPIDER_BASE_URL": self.service.url,
            "SPIDER_OUTPUT_DIR": str(self.folder / "jobs"),
            "SPIDER_PAUSE_MIN_SECONDS": "0.6",
            "SPIDER_PAUSE_MAX_SECONDS": "1.0",
            "BOSS_SEARCH_URL": self.board.search_url("boss"),
            "BOSS_REQUESTS_PER_MINUTE": "6000",
            "BOSS_PAGE_LIMIT": str(PAGES),
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            self.spiders[name] = subprocess.Popen(
                [sys.executable, "-m", "jobs_spider.boss.boos_api"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )

    def run(self) -> None:
        self.api("/bulk", {"source": "boss", "keywords": [{"city": city, "job": job} for city, job in KEYWORDS]})
        for name in (VICTIM, "demo-2"):
            self.start_spider(name)
        deadline = time.monotonic() + PATIENCE_SECONDS
        with Live(console=self.console, refresh_per_second=8) as live:
            while True:
                keywords = self.api("?source=boss")["items"]
                live.update(self.table(keywords))
                self.act(keywords)
                if all(keyword["status"] == "completed" for keyword in keywords):
                    return
                if time.monotonic() > deadline:
                    logs = "".join(log.read_text(errors="replace")[-2000:] for log in self.folder.glob("*.log"))
                    raise TimeoutError(f"not finished after {PATIENCE_SECONDS} s\n{logs}")
                time.sleep(0.1)

    def act(self, keywords: list[dict[str, Any]]) -> None:
        """Kill the first spider after its second page; start it again once the view has shown it dead for a while."""
        if self.killed_at is None:
            for keyword in keywords:
                if keyword["crawler_id"] == VICTIM and keyword["last_completed_page"] == 2:
                    self.spiders[VICTIM].kill()
                    self.spiders[VICTIM].wait()
                    self.killed_at = {**keyword, "time": time.monotonic()}
                    self.console.print(f"[red]{VICTIM} is killed (SIGKILL)[/] while it crawls {name_of(keyword)}")
        elif not self.back and time.monotonic() - self.killed_at["time"] > 2:
            self.back = True
            self.console.print(f"[green]{VICTIM} starts again[/]: what its earlier life held goes on at the next page")
            self.start_spider(VICTIM)

    def table(self, keywords: list[dict[str, Any]]) -> Table:
        table = Table("keyword", "state", "pages done", "jobs", "spider", title=f"service {self.service.url}")
        dead = self.killed_at is not None and not self.back
        for keyword in keywords:
            done = keyword["last_completed_page"]
            holder = keyword["crawler_id"] or ""
            if dead and holder == VICTIM and keyword["status"] == "crawling":
                holder += " [red](dead)[/]"
            bar = "█" * done + "·" * (PAGES - done)
            table.add_row(name_of(keyword), keyword["status"], f"{bar} {done}", str(keyword["jobs_found"]), holder)
        return table

    def stop(self) -> None:
        for spider in self.spiders.values():
            if spider.poll() is None:
                spider.send_signal(signal.SIGTERM)
        for spider in self.spiders.values():
            spider.wait(timeout=30)

    def summary(self) -> bool:
        """Print what came of it, from the board's own log, and tell whether every page came as promised."""
        visits = Counter((visit["city"], visit["keyword"], visit["page"]) for visit in self.board.visits)
        files = (self.folder / "jobs").glob("*.jsonl")
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        jobs = {json.loads(line)["job_id"] for line in lines}
        twice = [page for page, times in visits.items() if times > 1]
        killed = self.killed_at or {}
        pages = [visit["page"] for visit in self.board.visits if visit["keyword"] == killed.get("job")]
        self.console.print(
            f"\nkilled while crawling   {name_of(killed)}, after page 2; the board was asked for its pages {pages}"
            f"\npages fetched           {sum(visits.values())} of {len(KEYWORDS) * PAGES}"
            f"\npages fetched twice     {len(twice)} (at most the one in flight at the kill)"
            f"\njobs                    {len(jobs)} different, in {len(lines)} lines"
        )
        counted = sum(keyword["jobs_found"] for keyword in self.api("?source=boss")["items"])
        return (
            len(visits) == len(KEYWORDS) * PAGES
            and len(twice) <= 1
            and pages.count(1) == pages.count(2) == 1
            and len(jobs) == counted
        )


def name_of(keyword: dict[str, Any]) -> str:
    return f"{keyword.get('city')} {keyword.get('job')}"


def main() -> int:
    console = Console()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jobdata-demo-")))
        board = stack.enter_context(StandIn(pages=PAGES, delay=0.2))
        service = stack.enter_context(running_service(f"sqlite://{folder}/demo.sqlite3", folder / "service.log"))
        demo = Demo(folder, service, board, console)
        stack.callback(demo.stop)
        demo.run()
        as_promised = demo.summary()
    console.print("[green]as promised[/]" if as_promised else "[red]not as promised[/]")
    return 0 if as_promised else 1


if __name__ == "__main__":
    sys.exit(main())

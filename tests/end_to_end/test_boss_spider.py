"""The Boss spider as a process of its own, with the real service and the stand-in for the board."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service_process import ROOT, ServiceProcess, running_service
from tests.stand_in import Fault, StandIn
from tests.stand_in_boss import job_ids

PATIENCE_SECONDS = 60
BEIJING = "101010100"


class Scene:
    """A running service, the stand-in, and spiders that are started as users start them."""

    def __init__(self, service: ServiceProcess, board: StandIn, folder: Path) -> None:
        self.service = service
        self.board = board
        self.folder = folder
        self.spiders: list[subprocess.Popen[bytes]] = []

    def add(self, *jobs: str, city: str = "北京") -> None:
        keywords = [{"city": city, "job": job} for job in jobs]
        httpx.post(f"{self.service.url}/api/v1/keyword/bulk", json={"source": "boss", "keywords": keywords})

    def keyword(self, job: str) -> dict[str, Any]:
        query = {"source": "boss", "job": job}
        items = httpx.get(f"{self.service.url}/api/v1/keyword", params=query).json()["data"]["items"]
        keyword: dict[str, Any] = items[0]
        return keyword

    def start_spider(self, *options: str, spider_id: str | None = None, **settings: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "SPIDER_BASE_URL": self.service.url,
            "SPIDER_OUTPUT_DIR": str(self.folder / "jobs"),
            "SPIDER_PAUSE_MIN_SECONDS": "0",
            "SPIDER_PAUSE_MAX_SECONDS": "0",
            "BOSS_SEARCH_URL": self.board.search_url("boss"),
            "BOSS_REQUESTS_PER_MINUTE": "6000",
            **({"SPIDER_ID": spider_id} if spider_id else {}),
            **settings,
        }
        with (self.folder / "spider.log").open("ab") as log:
            spider = subprocess.Popen(
                [sys.executable, "jobs_spider/boss/boos_api.py", *options],
                cwd=ROOT, env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        self.spiders.append(spider)
        return spider

    def run_spider(self, *options: str, **settings: str) -> int:
        return self.start_spider(*options, **settings).wait(timeout=PATIENCE_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, (self.folder / "spider.log").read_text()[-3000:]
            time.sleep(0.02)

    def stored_ids(self) -> list[str]:
        files = (self.folder / "jobs").glob("*.jsonl")
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return [json.loads(line)["job_id"] for line in lines]

    def log(self) -> str:
        return (self.folder / "spider.log").read_text(encoding="utf-8")


@pytest.fixture
def scene(empty_database: str, tmp_path: Path) -> Iterator[Scene]:
    with StandIn() as board, running_service(empty_database, tmp_path / "service.log") as service:
        scene = Scene(service, board, tmp_path)
        yield scene
        for spider in scene.spiders:
            if spider.poll() is None:
                spider.kill()
                spider.wait()


def test_three_keywords_are_crawled_and_each_job_stored_once(scene: Scene) -> None:
    jobs = ["Python", "C++", "C# / .NET & 100%"]
    scene.add(*jobs)
    assert scene.run_spider("--max-keywords", "3") == 0
    assert [scene.keyword(job)["status"] for job in jobs] == ["completed"] * 3
    expected = [identity for job in jobs for page in (1, 2, 3) for identity in job_ids(BEIJING, job, page, 15)]
    assert Counter(scene.stored_ids()) == Counter(expected)
    assert [scene.keyword(job)["jobs_found"] for job in jobs] == [45] * 3


def test_a_killed_crawl_resumes_at_its_next_page(scene: Scene) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("slow", page=3, times=1, seconds=30))
    spider = scene.start_spider(spider_id="stable")
    scene.until(lambda: scene.board.pages_asked() == [1, 2, 3])
    spider.kill()
    spider.wait()
    assert scene.run_spider("--once", spider_id="stable") == 0
    assert scene.board.pages_asked() == [1, 2, 3, 3]
    assert scene.keyword("Python")["status"] == "completed"
    assert Counter(scene.stored_ids()).most_common(1)[0][1] == 1


def test_a_stopped_crawl_is_free_at_once_and_goes_on_at_its_next_page(scene: Scene) -> None:
    scene.add("Python")
    spider = scene.start_spider(SPIDER_PAUSE_MIN_SECONDS="60", SPIDER_PAUSE_MAX_SECONDS="60")
    scene.until(lambda: scene.keyword("Python")["last_completed_page"] == 1)
    spider.send_signal(signal.SIGTERM)
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert scene.keyword("Python")["status"] == "partial"
    assert scene.run_spider("--once") == 0
    assert scene.board.pages_asked() == [1, 2, 3]


def test_a_block_releases_the_keyword_with_its_reason_and_uses_up_no_try(scene: Scene) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("block_37_visit", page=2))
    assert scene.run_spider("--once") == 4
    keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["last_completed_page"], keyword["retry_count"]) == ("partial", 1, 0)
    assert keyword["error_message"].startswith("blocked: page 2: code 37")
    assert scene.board.pages_asked() == [1, 2]


@pytest.mark.parametrize("fault", ["login_expired", "no_salary"])
def test_a_lost_login_is_told_as_one(scene: Scene, fault: str) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault(fault))
    assert scene.run_spider("--once") == 5
    assert scene.keyword("Python")["error_message"].startswith("login: page 1")


def test_an_unknown_city_fails_without_asking_the_board(scene: Scene) -> None:
    scene.add("Python", city="哥谭")
    assert scene.run_spider("--once") == 0
    keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 1)
    assert "哥谭" in keyword["error_message"]
    assert "city_codes.csv" in keyword["error_message"]
    assert scene.board.pages_asked() == []


def test_a_keyword_that_fails_three_times_rests_for_the_day(scene: Scene) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("changed_shape"))
    assert scene.run_spider("--max-keywords", "5") == 0
    keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 3)
    assert scene.board.pages_asked() == [1, 1, 1]


def test_the_service_may_be_killed_in_the_middle_of_a_crawl(scene: Scene, empty_database: str) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("slow", page=2, times=1, seconds=1))
    spider = scene.start_spider("--once", SPIDER_SERVICE_BACKOFF_SECONDS="0.1")
    scene.until(lambda: scene.board.pages_asked() == [1, 2])
    port = str(scene.service.port)
    scene.service.kill()
    with running_service(empty_database, scene.folder / "service.log", PORT=port):
        assert spider.wait(timeout=PATIENCE_SECONDS) == 0
        keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["jobs_found"]) == ("completed", 45)
    assert scene.board.pages_asked() == [1, 2, 3]


def test_two_spiders_share_the_work_and_one_output_file(scene: Scene) -> None:
    scene.add(*(f"job {number}" for number in range(12)))
    spiders = [scene.start_spider("--max-keywords", "12") for _ in range(2)]
    assert [spider.wait(timeout=PATIENCE_SECONDS) for spider in spiders] == [0, 0]
    assert len(scene.board.pages_asked()) == 36
    assert Counter(scene.stored_ids()).most_common(1)[0][1] == 1
    assert len(scene.stored_ids()) == 12 * 45


def test_neither_cookies_nor_tokens_stand_in_the_logs(scene: Scene) -> None:
    scene.add("Python")
    assert scene.run_spider("--once", BOSS_COOKIE="wt2=very-secret-cookie; bst=other", SPIDER_LOG_LEVEL="DEBUG") == 0
    both = scene.log() + scene.service.log.read_text(encoding="utf-8")
    assert "very-secret-cookie" not in both
    assert "claim_token" not in both


def test_the_demo_shows_what_it_promises() -> None:
    demo = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "as promised" in demo.stdout

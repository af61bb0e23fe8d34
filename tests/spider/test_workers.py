"""Several workers in one process, and what they show."""

import io
import logging
import threading

import pytest
from rich.console import Console

from jobs_spider.boss.boos_api import KIND, BossSettings
from jobs_spider.command import start_log
from jobs_spider.crawl import Kit
from jobs_spider.settings import SpiderSettings, WrongSetting
from jobs_spider.spider import Spider
from jobs_spider.view import WorkerView, table
from jobs_spider.workers import Crew
from tests.spider.conftest import QuickTime
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn


@pytest.fixture
def crew(board: StandIn, service: Service, quick_time: QuickTime, monkeypatch: pytest.MonkeyPatch) -> Crew:
    monkeypatch.setenv("SPIDER_ID", "spider-7")
    monkeypatch.setenv("SPIDER_BASE_URL", service.url)
    boss = BossSettings.load(search_url=board.search_url("boss"), page_size=4, requests_per_minute=6000)
    return Crew(KIND, boss, SpiderSettings.load(), quick_time)


@pytest.fixture
def log_file() -> Console:
    return Console(file=io.StringIO())


def test_each_worker_has_a_claim_and_a_name_of_its_own(crew: Crew, service: Service, log_file: Console) -> None:
    keywords = [service.add(f"job {number}") for number in range(6)]
    assert crew.run(3, 6, log_file) == 0
    assert [(keyword.crawl_status, keyword.jobs_found) for keyword in keywords] == [("completed", 12)] * 6
    released = [body["crawler_id"] for body in service.bodies("release")]
    assert sorted(released) == ["spider-7-1", "spider-7-2", "spider-7-3"]


def test_one_worker_keeps_the_plain_name(crew: Crew, service: Service, log_file: Console) -> None:
    assert crew.run(1, 1, log_file) == 0
    assert [body["crawler_id"] for body in service.bodies("release")] == ["spider-7"]


def test_the_workers_share_the_quota(crew: Crew, service: Service, log_file: Console) -> None:
    keywords = [service.add(f"job {number}") for number in range(4)]
    crew.run(2, 1, log_file)
    assert [keyword.crawl_status for keyword in keywords].count("completed") == 1


def test_the_smallest_exit_code_but_0_counts(crew: Crew, service: Service, board: StandIn, log_file: Console) -> None:
    service.add()
    board.add_fault(Fault("block_35"))
    assert crew.run(2, 5, log_file) == 4


def test_an_error_in_one_worker_stops_all_and_is_told_by_its_place(
    crew: Crew,
    service: Service,
    quick_time: QuickTime,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    log_file: Console,
) -> None:
    run = Spider.run
    both_are_there = threading.Barrier(2)

    def fail_in_the_first(spider: Spider) -> int:
        name = threading.current_thread().name
        both_are_there.wait()
        if name == "spider-7-1":
            raise KeyError("surprise")
        return run(spider)

    monkeypatch.setattr(Spider, "run", fail_in_the_first)
    assert crew.run(2, None, log_file) == 1
    assert quick_time.stopping
    assert "error in the spider: KeyError at test_workers.py:" in caplog.text
    assert "surprise" not in caplog.text


def test_a_name_that_another_running_spider_has_is_a_wrong_setting(
    crew: Crew, quick_time: QuickTime, log_file: Console
) -> None:
    kit: Kit = crew.kit(KIND.make(BossSettings.load(), SpiderSettings.load(), quick_time), "spider-7")
    with pytest.raises(WrongSetting, match="SPIDER_ID: spider-7 is in use by another running spider"):
        crew.run(1, 1, log_file)
    kit.outbox.close()


def test_the_workers_are_shown_on_a_terminal(crew: Crew, service: Service) -> None:
    service.add("C++")
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=120)
    service.script("available", Scripted(status=200, body={"data": [], "reason": "paused: holiday"}))
    assert crew.run(1, 1, terminal) == 0
    assert "spider-7" in screen.getvalue()


def test_a_worker_is_shown_with_its_keyword_page_jobs_and_state() -> None:
    busy, idle = WorkerView("spider-7-1"), WorkerView("spider-7-2")
    busy.begin("上海", "C++\x1b[2J", 1, None)
    busy.page_done(2, 3, 15)
    busy.state = "pausing"
    idle.begin("北京", "Go", 0, None)
    idle.rest("resting: night hours")
    screen = io.StringIO()
    Console(file=screen, width=120).print(table([busy, idle]))
    lines = screen.getvalue().splitlines()
    assert lines[1].split() == ["spider-7-1", "上海", "C++�[2J", "2", "of", "3", "15", "pausing"]
    assert lines[2].split() == ["spider-7-2", "resting:", "night", "hours"]


@pytest.mark.parametrize(("terminal", "kind"), [(True, "RichHandler"), (False, "StreamHandler")])
def test_the_log_goes_through_the_screen_on_a_terminal_and_is_plain_lines_else(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, kind: str
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(logging.root, "level", logging.WARNING)
    start_log("INFO", Console(file=io.StringIO(), force_terminal=terminal), workers=2)
    assert [type(handler).__name__ for handler in logging.root.handlers] == [kind]

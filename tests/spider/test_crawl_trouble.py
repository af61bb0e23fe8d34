"""What a keyword's crawl makes of each kind of trouble: given back, failed, or waited out."""

from dataclasses import replace
from pathlib import Path

import pytest

from jobs_spider.board import Page
from tests.spider.conftest import MakeKit, QuickTime, crawl, outcome
from tests.spider.service import Service
from tests.stand_in import Fault, StandIn


@pytest.mark.parametrize(
    ("fault", "close_as", "told", "exit_code"),
    [
        ("block_37_visit", "blocked", "__zp_stoken__", 4),
        ("block_37_environment", "blocked", "a new login does not help", 4),
        ("block_36", "blocked", "您的账户存在异常行为", 4),
        ("block_35", "blocked", "您的IP地址存在异常行为", 4),
        ("security_check", "blocked", "/web/common/security-check.html", 4),
        ("html_page", "blocked", "web page", 4),
        ("forbidden_403", "blocked", "HTTP 403", 4),
        ("rate_limit", "blocked", "too fast", 4),
        ("too_many_429", "blocked", "HTTP 429", 4),
        ("login_expired", "login", "Log in", 5),
        ("login_page", "login", "Log in", 5),
        ("unauthorized_401", "login", "Log in", 5),
        ("wrong_identity", "login", "recruiter", 5),
        ("no_salary", "login", "all salaries are empty", 5),
    ],
)
def test_a_refusal_of_the_board_gives_the_keyword_back_and_is_never_repeated(
    kit: MakeKit, service: Service, board: StandIn, fault: str, close_as: str, told: str, exit_code: int
) -> None:
    keyword = service.add()
    board.add_fault(Fault(fault, page=2))
    assert crawl(kit()).exit_code == exit_code
    assert (keyword.reason, keyword.last_completed_page) == (close_as, 1)
    assert keyword.error_message.startswith("page 2: ")
    assert told in keyword.error_message
    assert board.pages_asked() == [1, 2]


@pytest.mark.parametrize(
    ("fault", "told", "asked"),
    [
        ("changed_shape", "no jobList", [1]),
        ("broken_json", "broken JSON", [1]),
        ("error_500", "HTTP 500", [1, 1, 1, 1]),
    ],
)
def test_a_fault_of_the_keyword_itself_fails_it(
    kit: MakeKit, service: Service, board: StandIn, fault: str, told: str, asked: list[int]
) -> None:
    keyword = service.add()
    board.add_fault(Fault(fault))
    assert crawl(kit()).exit_code == 0
    assert keyword.crawl_status == "failed"
    assert told in keyword.error_message
    assert board.pages_asked() == asked


def test_an_unknown_city_fails_without_asking_the_board(kit: MakeKit, service: Service, board: StandIn) -> None:
    keyword = service.add(city="亚特兰蒂斯")
    crawl(kit())
    assert keyword.crawl_status == "failed"
    assert "'亚特兰蒂斯' has no boss code in city_codes.csv" in keyword.error_message
    assert board.pages_asked() == []


@pytest.mark.parametrize("fault", ["reset", "error_500", "unavailable_503"])
def test_a_passing_network_error_is_waited_out(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime, fault: str
) -> None:
    keyword = service.add()
    board.add_fault(Fault(fault, page=1, times=3))
    crawl(kit(page_limit=1))
    assert outcome(keyword) == ("completed", 1, 4)
    assert quick_time.waits == sorted(quick_time.waits)
    assert len(quick_time.waits) == 3


@pytest.mark.parametrize("fault", ["reset", "unavailable_503"])
def test_a_board_that_stays_away_gives_the_keyword_back(
    kit: MakeKit, service: Service, board: StandIn, fault: str
) -> None:
    keyword = service.add()
    board.add_fault(Fault(fault, page=2))
    assert crawl(kit(board_retries=2)).exit_code == 6
    assert (keyword.reason, keyword.last_completed_page) == ("network", 1)
    assert board.pages_asked() == [1, 2, 2, 2]


def test_a_slow_board_is_a_network_error(kit: MakeKit, service: Service, board: StandIn) -> None:
    keyword = service.add()
    board.add_fault(Fault("slow", seconds=10))
    crawl(kit(board_retries=0, read_timeout_seconds=1))
    assert "ReadTimeout" in keyword.error_message


def test_an_error_in_the_reader_fails_the_keyword_and_is_told_by_its_place(
    kit: MakeKit, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenBoard:
        source = "boss"
        page_limit = 3

        def fetch_page(self, city: str, job: str, page: int) -> Page:
            raise KeyError("surprise")

        def close(self) -> None:
            """Nothing is open."""

    keyword = service.add()
    assert crawl(replace(kit(), board=BrokenBoard())).exit_code == 0
    assert keyword.error_message.startswith("page 1: KeyError at test_crawl_trouble.py:")
    assert "KeyError at test_crawl_trouble.py:" in caplog.text
    assert "surprise" not in caplog.text


def test_jobs_that_cannot_be_written_are_not_reported(kit: MakeKit, service: Service, tmp_path: Path) -> None:
    keyword = service.add()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "jobs").write_text("a file where the folder belongs", encoding="utf-8")
    assert crawl(kit()).exit_code == 7
    assert (keyword.reason, keyword.last_completed_page) == ("other", 0)
    assert "the jobs could not be written" in keyword.error_message
    assert service.bodies("page-progress") == []

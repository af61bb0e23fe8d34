"""A real Chromium on the stand-in's search pages: what it hands out equals what requests get."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from jobs_spider.board import Blocked, Unreachable
from jobs_spider.boss.boos_api import BossBoard, BossSettings
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper
from tests.chromium import running_chromium
from tests.mariadb import free_port
from tests.stand_in import Fault, StandIn

MakeBoard = Callable[..., BossBoard]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The operator's own browser."""
    with running_chromium(tmp_path_factory.mktemp("profile")) as cdp_url:
        yield cdp_url


@pytest.fixture
def boss(board: StandIn, chromium: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeBoard]:
    """Boss fetched in the browser, without pauses; name only the browser's settings that the test is about."""
    boards = []

    def make(fetch: str = "browser", **browser: Any) -> BossBoard:
        for name, value in {"cdp_url": chromium, **browser}.items():
            monkeypatch.setenv(f"BROWSER_{name.upper()}", str(value))
        settings = BossSettings.load(
            fetch=fetch, search_url=board.search_url("boss"), search_page_url=board.page_url("boss"), page_size=4
        )
        boards.append(BossBoard(settings, SpiderSettings.load(pause_min_seconds=0, pause_max_seconds=0), Timekeeper()))
        return boards[-1]

    yield make
    for made in boards:
        made.close()


class Person(logging.Handler):
    """Sees to a check as soon as the log asks for somebody."""

    def __init__(self, board: StandIn) -> None:
        super().__init__()
        self._board = board

    def emit(self, record: logging.LogRecord) -> None:
        if "See to it" in record.getMessage():
            self._board.pages.person_came = True


@pytest.fixture
def person(board: StandIn) -> Iterator[None]:
    watching = Person(board)
    logging.getLogger("jobs_spider").addHandler(watching)
    yield
    logging.getLogger("jobs_spider").removeHandler(watching)


def tabs(chromium: str) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = requests.get(f"{chromium}/json/list", timeout=10).json()
    return [tab for tab in listed if "/web/geek/jobs" in tab["url"]]


def test_pages_equal_those_of_requests(boss: MakeBoard, board: StandIn) -> None:
    job = "C++ / C# & 100% Ｐ 😀"
    both = [[made.fetch_page("上海", job, page) for page in (1, 2, 3)] for made in (boss("requests"), boss())]
    assert both[0] == both[1]
    assert board.pages_asked() == [1, 2, 3] * 2


def test_two_keywords_in_a_row_do_not_mix(boss: MakeBoard) -> None:
    one, other = boss(), boss("requests")
    for job in ("Go", "Rust", "Go"):
        assert one.fetch_page("上海", job, 1) == other.fetch_page("上海", job, 1)


@pytest.mark.parametrize("fault", ["block_36", "login_page"])
@pytest.mark.usefixtures("person")
def test_it_goes_on_when_a_person_has_seen_to_a_check_or_a_login(
    boss: MakeBoard, board: StandIn, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    browser = boss()
    board.add_fault(Fault(fault, page=2, times=1))
    with caplog.at_level("INFO"):
        pages = [browser.fetch_page("上海", "Go", page) for page in (1, 2)]
    assert pages == [boss("requests").fetch_page("上海", "Go", page) for page in (1, 2)]
    assert "the browser's window shows the board's" in caplog.text
    assert "somebody has seen to it" in caplog.text


def test_nobody_there_is_a_block_and_the_window_stays(boss: MakeBoard, board: StandIn, chromium: str) -> None:
    board.add_fault(Fault("block_36"))
    with pytest.raises(Blocked, match="nobody saw to it"):
        boss(person_wait_seconds=0).fetch_page("上海", "Go", 1)
    assert len(tabs(chromium)) == 1


def test_a_request_that_fails_in_the_page_is_unreachable(boss: MakeBoard, board: StandIn) -> None:
    board.add_fault(Fault("reset"))
    with pytest.raises(Unreachable, match="net::ERR_"):
        boss().fetch_page("上海", "Go", 1)


def test_a_search_page_that_is_not_there_is_unreachable(
    boss: MakeBoard, board: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "page_url", lambda _source: f"http://127.0.0.1:{free_port()}/web/geek/jobs")
    with pytest.raises(Unreachable, match="net::ERR_CONNECTION_REFUSED"):
        boss().fetch_page("上海", "Go", 1)


def test_a_window_that_somebody_closed_is_opened_again(boss: MakeBoard, chromium: str) -> None:
    browser = boss()
    browser.fetch_page("上海", "Go", 1)
    requests.get(f"{chromium}/json/close/{tabs(chromium)[0]['id']}", timeout=10)
    with pytest.raises(Unreachable, match="the browser's window does not get on"):
        browser.fetch_page("上海", "Go", 2)
    assert browser.fetch_page("上海", "Go", 1).jobs


def test_leaving_closes_our_tab_and_not_the_operators_browser(boss: MakeBoard, chromium: str) -> None:
    browser = boss()
    browser.fetch_page("上海", "Go", 1)
    browser.close()
    assert tabs(chromium) == []


def test_a_browser_that_is_not_there_is_told(boss: MakeBoard) -> None:
    with pytest.raises(Unreachable, match="Check BROWSER_CDP_URL") as told:
        boss(cdp_url=f"http://127.0.0.1:{free_port()}").fetch_page("上海", "Go", 1)
    assert "\n" not in str(told.value)


def test_a_browser_that_cannot_be_started_is_told(boss: MakeBoard, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="Check BROWSER_PROFILE_DIR and BROWSER_EXECUTABLE"):
        boss(cdp_url="", executable=tmp_path / "none").fetch_page("上海", "Go", 1)

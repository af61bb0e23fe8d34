"""What Boss is asked, to the byte: a server on loopback writes down each request."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobs_spider.board import Unreachable
from jobs_spider.boss.boos_api import BossBoard, BossSettings
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper
from tests.spider.recording import Recording, running_recording


@pytest.fixture
def recording() -> Iterator[Recording]:
    with running_recording() as recording:
        yield recording


def board(recording: Recording, **settings: Any) -> BossBoard:
    return BossBoard(BossSettings.load(search_url=recording.url, **settings), SpiderSettings.load(), Timekeeper())


@pytest.mark.parametrize(
    ("job", "sent"),
    [
        ("C++", "C%2B%2B"),
        ("C#", "C%23"),
        (".NET", ".NET"),
        ("UI/UX", "UI%2FUX"),
        ("R&D 100%", "R%26D+100%25"),
        ("😀", "%F0%9F%98%80"),
        ("ＡＩ", "%EF%BC%A1%EF%BC%A9"),
    ],
)
def test_a_keyword_reaches_the_board_byte_for_byte(recording: Recording, job: str, sent: str) -> None:
    request = recording.ask(board(recording), job=job)
    assert f"&query={sent}&" in request.path
    assert f"query={sent}&" in request.headers["Referer"]
    assert request.query["query"] == job


def test_a_page_is_asked_for_with_its_parameters(recording: Recording) -> None:
    request = recording.ask(board(recording, page_size=30), page=2)
    assert request.query == {"scene": "1", "query": "Python", "city": "101020100", "page": "2", "pageSize": "30"}
    assert request.headers["X-Requested-With"] == "XMLHttpRequest"


def test_the_operators_own_headers_win(recording: Recording) -> None:
    headers = recording.ask(board(recording, user_agent="mine/1", headers={"Referer": "https://x.example/"})).headers
    assert (headers["User-Agent"], headers["Referer"]) == ("mine/1", "https://x.example/")


def test_a_cookie_that_the_board_renews_is_sent_only_in_its_new_form(recording: Recording) -> None:
    logged_in = board(recording, cookie="wt2=login; __zp_stoken__=copied")
    cookies = [recording.ask(logged_in).headers["Cookie"] for _ in range(3)]
    assert [sorted(line.split("; ")) for line in cookies] == [
        ["__zp_stoken__=copied", "wt2=login"],
        ["__zp_stoken__=renewed-1", "extra=new", "wt2=login"],
        ["__zp_stoken__=renewed-2", "extra=new", "wt2=login"],
    ]


def test_a_board_that_is_not_there_is_unreachable() -> None:
    gone = Recording()
    gone.server.server_close()
    with pytest.raises(Unreachable, match="ConnectionError"):
        board(gone).fetch_page("上海", "Python", 1)

"""What 51job is asked, to the byte: a server on loopback writes down each request."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobs_spider.board import UnknownCity
from jobs_spider.qcwy.qcwy import QcwyBoard, QcwySettings
from jobs_spider.settings import SpiderSettings
from tests.spider.conftest import START, QuickTime
from tests.spider.recording import Recording, running_recording


@pytest.fixture
def recording() -> Iterator[Recording]:
    with running_recording() as recording:
        yield recording


def board(recording: Recording, **settings: Any) -> QcwyBoard:
    return QcwyBoard(QcwySettings.load(search_url=recording.url, **settings), SpiderSettings.load(), QuickTime())


@pytest.mark.parametrize(
    ("job", "sent"),
    [
        ("C++", "C%2B%2B"), ("C#", "C%23"), (".NET", ".NET"), ("UI/UX", "UI%2FUX"), ("R&D 100%", "R%26D+100%25"),
        ("😀", "%F0%9F%98%80"), ("ＡＩ", "%EF%BC%A1%EF%BC%A9"),
    ],
)  # fmt: skip
def test_a_keyword_reaches_the_board_byte_for_byte(recording: Recording, job: str, sent: str) -> None:
    request = recording.ask(board(recording), job=job)
    assert f"&keyword={sent}&" in request.path
    assert request.query["keyword"] == job


def test_a_page_is_asked_for_with_its_parameters(recording: Recording) -> None:
    request = recording.ask(board(recording), city="北京市", page=2)
    filled = {name: value for name, value in request.query.items() if value}
    assert filled == {
        "api_key": "51job",
        "searchType": "2",
        "sortType": "0",
        "source": "1",
        "scene": "7",
        "timestamp": str(int(START.timestamp())),
        "keyword": "Python",
        "jobArea": "010000",
        "pageNum": "2",
        "pageSize": "20",
        "pageCode": "sou|sou|soulb",
    }
    assert request.query["workYear"] == ""
    assert request.headers["Referer"] == "https://we.51job.com/"


def test_the_operators_cookies_are_sent(recording: Recording) -> None:
    request = recording.ask(board(recording, cookie="acw_tc=1; guid=2"))
    assert sorted(request.headers["Cookie"].split("; ")) == ["acw_tc=1", "guid=2"]


def test_an_unknown_city_asks_nothing(recording: Recording) -> None:
    with pytest.raises(UnknownCity, match="哥谭"):
        board(recording).fetch_page("哥谭", "Python", 1)
    assert recording.requests == []

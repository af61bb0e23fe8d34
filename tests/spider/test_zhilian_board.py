"""What Zhaopin is asked, to the byte: a server on loopback writes down each request."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from jobs_spider.board import UnknownCity
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.zhilian.zhilian_single import ZhilianBoard, ZhilianSettings
from tests.spider.recording import Recording, running_recording


@pytest.fixture
def recording() -> Iterator[Recording]:
    with running_recording() as recording:
        yield recording


def board(recording: Recording, **settings: Any) -> ZhilianBoard:
    return ZhilianBoard(ZhilianSettings.load(search_url=recording.url, **settings), SpiderSettings.load(), Timekeeper())


@pytest.mark.parametrize("job", ["C++", "C#", ".NET", "UI/UX", "R&D 100%", "😀", "ＡＩ", 'a"b\\c'])
def test_a_keyword_reaches_the_board_byte_for_byte(recording: Recording, job: str) -> None:
    request = recording.ask(board(recording), job=job)
    assert json.loads(request.body)["S_SOU_FULL_INDEX"] == job
    assert f'"S_SOU_FULL_INDEX":{json.dumps(job, ensure_ascii=False)},'.encode() in request.body


def test_a_page_is_asked_for_with_its_body(recording: Recording) -> None:
    request = recording.ask(board(recording), city="北京", page=2)
    content = json.loads(request.body)
    assert UUID(content.pop("actionid")).version == 4
    assert content == {
        "S_SOU_FULL_INDEX": "Python",
        "S_SOU_WORK_CITY": "530",
        "order": 4,
        "eventScenario": "pcSearchedSouSearch",
        "anonymous": 1,
        "clickFilterBlackCompany": False,
        "platform": 13,
        "version": "0.0.0",
        "pageSize": 20,
        "pageIndex": 2,
    }
    assert (request.method, request.headers["Content-Type"]) == ("POST", "application/json;charset=UTF-8")
    assert request.headers["Origin"] == "https://www.zhaopin.com"


def test_the_operators_cookies_and_headers_are_sent(recording: Recording) -> None:
    request = recording.ask(board(recording, cookie="at=1", headers={"x-zp-client-id": "mine"}))
    assert (request.headers["Cookie"], request.headers["x-zp-client-id"]) == ("at=1", "mine")


def test_an_unknown_city_asks_nothing(recording: Recording) -> None:
    with pytest.raises(UnknownCity, match="哥谭"):
        board(recording).fetch_page("哥谭", "Python", 1)
    assert recording.requests == []

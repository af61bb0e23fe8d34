"""What Boss is asked, to the byte: a server on loopback writes down each request."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from jobs_spider.board import CrawlProblem, Unreachable
from jobs_spider.boss.boos_api import BossBoard, BossSettings
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper


class Recorder(BaseHTTPRequestHandler):
    """Answers «expired login» and renews a cookie."""

    requests: list[tuple[str, dict[str, str]]]

    def do_GET(self) -> None:
        self.requests.append((self.path, dict(self.headers)))
        body = b'{"code": 7, "message": ""}'
        self.send_response(200)
        self.send_header("Set-Cookie", f"__zp_stoken__=renewed-{len(self.requests)}; Path=/")
        self.send_header("Set-Cookie", "extra=new; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Recording:
    """The server's address and what came in."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        handler = type("Bound", (Recorder,), {"requests": self.requests})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/wapi/zpgeek/search/joblist.json"

    def ask(
        self, board: BossBoard, job: str = "Python", city: str = "上海", page: int = 1
    ) -> tuple[str, dict[str, str]]:
        with suppress(CrawlProblem):
            board.fetch_page(city, job, page)
        return self.requests[-1]


@pytest.fixture
def recording() -> Iterator[Recording]:
    recording = Recording()
    threading.Thread(target=recording.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield recording
    recording.server.shutdown()
    recording.server.server_close()


def board(recording: Recording, **settings: Any) -> BossBoard:
    return BossBoard(BossSettings.load(search_url=recording.url, **settings), SpiderSettings.load(), Timekeeper())


def query(path: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}


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
    path, headers = recording.ask(board(recording), job=job)
    assert f"&query={sent}&" in path
    assert f"query={sent}&" in headers["Referer"]
    assert query(path)["query"] == job


def test_a_page_is_asked_for_with_its_parameters(recording: Recording) -> None:
    path, headers = recording.ask(board(recording, page_size=30), page=2)
    assert query(path) == {"scene": "1", "query": "Python", "city": "101020100", "page": "2", "pageSize": "30"}
    assert headers["X-Requested-With"] == "XMLHttpRequest"


def test_the_operators_own_headers_win(recording: Recording) -> None:
    _, headers = recording.ask(board(recording, user_agent="mine/1", headers={"Referer": "https://x.example/"}))
    assert (headers["User-Agent"], headers["Referer"]) == ("mine/1", "https://x.example/")


def test_a_cookie_that_the_board_renews_is_sent_only_in_its_new_form(recording: Recording) -> None:
    logged_in = board(recording, cookie="wt2=login; __zp_stoken__=copied")
    cookies = [recording.ask(logged_in)[1]["Cookie"] for _ in range(3)]
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

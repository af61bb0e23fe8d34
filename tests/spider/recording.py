"""A server on loopback that writes down each request of a board's spider, to the byte, and refuses it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jobs_spider.board import Board, CrawlProblem


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        values = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        return {name: value[0] for name, value in values.items()}


class Recorder(BaseHTTPRequestHandler):
    """Answers what no board answers, and renews a cookie."""

    requests: list[Request]

    def do_GET(self) -> None:
        given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.requests.append(Request(self.command, self.path, dict(self.headers), given))
        body = b'{"code": 7, "message": ""}'
        self.send_response(200)
        self.send_header("Set-Cookie", f"__zp_stoken__=renewed-{len(self.requests)}; Path=/")
        self.send_header("Set-Cookie", "extra=new; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Recording:
    """The server's address and what came in."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        handler = type("Bound", (Recorder,), {"requests": self.requests})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/search"

    def ask(self, board: Board, job: str = "Python", city: str = "上海", page: int = 1) -> Request:
        with suppress(CrawlProblem):
            board.fetch_page(city, job, page)
        return self.requests[-1]


@contextmanager
def running_recording() -> Iterator[Recording]:
    recording = Recording()
    threading.Thread(target=recording.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield recording
    recording.server.shutdown()
    recording.server.server_close()

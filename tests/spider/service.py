"""A small service for the spider's tests: real HTTP on loopback, keywords in memory, trouble by script."""

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

ROOT = "/api/v1/keyword/"


@dataclass
class Scripted:
    """What happens to one call instead of a good answer.

    "lost" carries the call out and then cuts the connection; "reset" cuts it before.
    """

    how: Literal["answer", "lost", "reset"] = "answer"
    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    body: object = None


@dataclass
class Keyword:
    """A keyword as the service keeps it."""

    id: int
    city: str
    job: str
    last_completed_page: int = 0
    total_pages: int | None = None
    crawl_status: str = "idle"
    retry_count: int = 0
    jobs_found: int = 0
    held: bool = False
    # Whose it is; empty for one that a test set up as held, which is whoever asks for it.
    crawler_id: str = ""
    error_message: str = ""
    reason: str = ""


class Service:
    """Hands out keywords in order, each once, and remembers every call."""

    def __init__(self) -> None:
        self.keywords: list[Keyword] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.should_stop = False
        self.one_at_a_time = threading.Lock()
        self._scripts: dict[str, deque[Scripted]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"service": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, job: str = "Python", city: str = "上海", **state: Any) -> Keyword:
        keyword = Keyword(len(self.keywords) + 1, city, job, **state)
        self.keywords.append(keyword)
        return keyword

    def script(self, name: str, *scripted: Scripted) -> None:
        """What happens to the next calls of this name, one after the other."""
        self._scripts.setdefault(name, deque()).extend(scripted)

    def forget_scripts(self) -> None:
        self._scripts.clear()

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def bodies(self, name: str) -> list[dict[str, Any]]:
        return [body for called, body in self.calls if called == name]

    def next_script(self, name: str) -> Scripted | None:
        waiting = self._scripts.get(name)
        return waiting.popleft() if waiting else None

    def carry_out(self, name: str, body: dict[str, Any]) -> object:
        keyword = next((keyword for keyword in self.keywords if keyword.id == body.get("keyword_id")), None)
        if name == "available":
            return self._claim(body["crawler_id"])
        if name == "release":
            return self._release([keyword] if keyword else self.keywords, body)
        assert keyword is not None
        if name == "heartbeat":
            return {"renewed": int(keyword.held), "should_stop": self.should_stop}
        return self._report_page(keyword, body) if name == "page-progress" else self._complete(keyword, body)

    def _claim(self, crawler_id: str) -> list[dict[str, Any]]:
        free = next((k for k in self.keywords if not k.held and k.crawl_status in ("idle", "partial")), None)
        if free is None:
            return []
        free.held, free.crawler_id = True, crawler_id
        shown = ("id", "city", "job", "last_completed_page", "total_pages", "crawl_status", "retry_count")
        return [{**{name: getattr(free, name) for name in shown}, "claim_token": "secret-token"}]

    def _report_page(self, keyword: Keyword, body: dict[str, Any]) -> dict[str, Any]:
        applied = body["page"] > keyword.last_completed_page
        if applied:
            keyword.last_completed_page = body["page"]
            keyword.total_pages = body["total_pages"]
            keyword.jobs_found += body["jobs_found"]
        return {"applied": applied, "should_stop": self.should_stop}

    def _complete(self, keyword: Keyword, body: dict[str, Any]) -> dict[str, Any]:
        keyword.held, keyword.crawl_status, keyword.error_message = False, body["status"], body["error_message"]
        return {"applied": True}

    def _release(self, keywords: list[Keyword], body: dict[str, Any]) -> dict[str, Any]:
        crawler_id = body.get("crawler_id")
        held = [k for k in keywords if k.held and (crawler_id is None or k.crawler_id in ("", crawler_id))]
        for keyword in held:
            keyword.held, keyword.crawl_status, keyword.reason = False, "partial", body["reason"]
            keyword.error_message = body.get("error_message", "")
        return {"released": len(held)}


class Handler(BaseHTTPRequestHandler):
    """One connection. The class attribute is set by the server that it is bound to."""

    protocol_version = "HTTP/1.1"
    service: Service

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        self._call({name: values[0] for name, values in query.items()})

    def do_POST(self) -> None:
        self._call(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _call(self, body: dict[str, Any]) -> None:
        name = urlsplit(self.path).path.removeprefix(ROOT)
        self.service.calls.append((name, body))
        script = self.service.next_script(name)
        if script is None or script.how == "lost":
            with self.service.one_at_a_time:
                data = self.service.carry_out(name, body)
            script = script or Scripted(
                status=200, headers={"Retry-After": "7"} if data == [] else {}, body={"data": data}
            )
        if script.how == "answer":
            self._send(script)
        else:
            self.close_connection = True

    def _send(self, answer: Scripted) -> None:
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for header, value in {"Content-Length": str(len(content)), **answer.headers}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the calls are kept for the tests."""

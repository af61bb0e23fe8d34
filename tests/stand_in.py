"""A stand-in for the boards: loopback only, deterministic jobs, an access log, faults on demand.

    python -m tests.stand_in --port 8100 --log access.jsonl --pages 5 --fault '{"kind": "slow", "page": 2, "times": 1}'

In tests: `with StandIn() as board:`. While it runs: `POST /_control/faults` with one fault or a list of them adds,
`GET` shows and `DELETE` clears; `PATCH /_control/shape` with {"pages": 2} changes what the board holds. A browser finds
the boards' search pages too (`tests/stand_in_pages.py`); `POST /_control/person` passes the check that they show.
Each board is a class of its own (`tests/stand_in_boss.py`, `…_qcwy.py`, `…_zhilian.py`).
"""

import argparse
import gzip
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.stand_in_board import Board, Reply, Shape, Visit
from tests.stand_in_boss import BOSS
from tests.stand_in_pages import PERSON_PATH, SEARCH_PAGES, Pages
from tests.stand_in_qcwy import Qcwy
from tests.stand_in_zhilian import Zhilian

BOARDS: dict[str, Board] = {board.path: board for board in (BOSS, Qcwy(), Zhilian())}
BY_SOURCE: dict[str, Board] = {board.source: board for board in BOARDS.values()}
TRANSPORT_FAULTS = (
    "slow",
    "reset",
    "error_500",
    "unavailable_503",
    "too_many_429",
    "forbidden_403",
    "unauthorized_401",
)


@dataclass
class Fault:
    """What goes wrong, for which requests (None: any), and how often (None: for ever)."""

    kind: str
    board: str | None = None
    city: str | None = None
    keyword: str | None = None
    page: int | None = None
    times: int | None = None
    seconds: float = 1.0

    def __post_init__(self) -> None:
        known = [*TRANSPORT_FAULTS, *(kind for board in BOARDS.values() for kind in board.faults)]
        if self.kind not in known:
            raise ValueError(f"unknown fault {self.kind!r}; known: {', '.join(known)}")

    def strikes(self, visit: Visit) -> bool:
        asked = (visit.board, visit.city, visit.keyword, visit.page)
        wanted = (self.board, self.city, self.keyword, self.page)
        return self.times != 0 and all(want in (None, is_) for want, is_ in zip(wanted, asked, strict=True))


class StandIn:
    """The server, in a thread of its own; also the record of who asked for what."""

    def __init__(
        self,
        port: int = 0,
        log: Path | None = None,
        faults: Sequence[Fault] = (),
        pages: int = 3,
        page_size: int = 15,
        delay: float = 0.0,
    ) -> None:
        self.shape = Shape(pages, page_size)
        self.pages = Pages()
        self.visits: list[dict[str, Any]] = []
        self._faults = list(faults)
        self._delay = delay
        self._lock = threading.Lock()
        self._log = log.open("a", encoding="utf-8") if log else None
        self._server = Server(("127.0.0.1", port), type("Bound", (Handler,), {"stand_in": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self._log:
            self._log.close()

    def search_url(self, source: str) -> str:
        return self.url + BY_SOURCE[source].path

    def page_url(self, source: str) -> str:
        return self.url + SEARCH_PAGES[source].path

    def add_fault(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def clear_faults(self) -> None:
        with self._lock:
            self._faults.clear()

    def faults(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._faults]

    def reshape(self, **changes: int) -> None:
        self.shape = replace(self.shape, **changes)

    def pages_asked(self, keyword: str | None = None) -> list[int]:
        """The page numbers of all requests so far, in order."""
        with self._lock:
            return [visit["page"] for visit in self.visits if keyword in (None, visit["keyword"])]

    def admit(self, visit: Visit) -> Fault | None:
        """Note a request and say which fault strikes it. Noted first: a client killed while waiting was there too."""
        with self._lock:
            fault = next((fault for fault in self._faults if fault.strikes(visit)), None)
            if fault and fault.times is not None:
                fault.times -= 1
            if fault:
                self.pages.person_came = False
            outcome = fault.kind if fault else "ok"
            entry = {**asdict(visit), "time": datetime.now(UTC).isoformat(), "outcome": outcome}
            self.visits.append(entry)
            if self._log:
                self._log.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self._log.flush()
        time.sleep(self._delay)
        return fault


class Server(ThreadingHTTPServer):
    """Quiet about clients that are killed while they wait: that is what it is there for."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection. The class attribute is set by the server that it is bound to."""

    protocol_version = "HTTP/1.1"
    stand_in: StandIn

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/_control/faults":
            self._send_json(self.stand_in.faults())
        elif board := BOARDS.get(address.path):
            self._search(board, address.query)
        elif address.path == PERSON_PATH:
            self._send_json({"passed": self.stand_in.pages.person_came})
        else:
            self._send(self.stand_in.pages.reply(address.path))

    def do_POST(self) -> None:
        if self.path == PERSON_PATH:
            self.stand_in.pages.person_came = True
            self._send_json({"passed": True})
            return
        address = urlsplit(self.path)
        if board := BOARDS.get(address.path):
            self._search(board, address.query)
            return
        given = self._read_json()
        try:
            faults = [Fault(**fault) for fault in (given if isinstance(given, list) else [given])]
        except (TypeError, ValueError) as error:
            self._send_json({"error": str(error)}, status=422)
            return
        for fault in faults:
            self.stand_in.add_fault(fault)
        self._send_json(self.stand_in.faults())

    def do_PATCH(self) -> None:
        self.stand_in.reshape(**self._read_json())
        self._send_json(asdict(self.stand_in.shape))

    def do_DELETE(self) -> None:
        self.stand_in.clear_faults()
        self._send_json([])

    def _search(self, board: Board, query: str) -> None:
        body = self._read_body()
        if self.command != board.method:
            self._send(Reply(405, b""))
            return
        names = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
        self._answer(board, board.visit(names, body))

    def _answer(self, board: Board, visit: Visit) -> None:
        fault = self.stand_in.admit(visit)
        kind = fault.kind if fault else "ok"
        if fault and kind == "slow":
            time.sleep(fault.seconds)
        if kind == "reset":
            self._reset()
        elif kind in TRANSPORT_FAULTS and kind != "slow":
            self._send(Reply(int(kind[-3:]), b'{"message": "stand-in"}'))
        else:
            self._send(board.reply(visit, self.stand_in.shape, kind))

    def _reset(self) -> None:
        # Closing with a linger of 0 sends RST instead of FIN.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _read_json(self) -> Any:
        return json.loads(self._read_body())

    def _read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _send_json(self, content: object, status: int = 200) -> None:
        self._send(Reply(status, json.dumps(content, ensure_ascii=False).encode()))

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            body = reply.body
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            # The client was killed while it waited; that is what it is there for.
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """The access log is written by the stand-in itself."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", type=Path, help="access log, JSON lines, appended to")
    parser.add_argument("--pages", type=int, default=3, help="pages of each keyword")
    parser.add_argument("--page-size", type=int, default=15, help="most jobs on a page")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--fault", action="append", default=[], help='JSON, e.g. {"kind": "reset", "page": 2}')
    given = parser.parse_args()
    faults = [Fault(**json.loads(fault)) for fault in given.fault]
    with StandIn(given.port, given.log, faults, given.pages, given.page_size, given.delay) as stand_in:
        print(f"stand-in for the boards on {stand_in.url}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()

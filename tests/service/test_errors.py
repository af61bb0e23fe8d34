"""What a client is told when something fails: a problem document, never a traceback, a statement or a value."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from starlette.types import Message

from app.api.problem_details import UnexpectedErrors, add_error_handlers
from app.controllers import claims
from app.core import database
from app.core.errors import Contention, StatementRefused
from tests import mariadb
from tests.service.conftest import TABLES, Api, by_hand, held, jobs

MEDIA_TYPE = "application/problem+json"


def problem_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer, after a look at its shape and for what must not be in it."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)
    problem: dict[str, Any] = answer.json()
    assert problem.keys() >= {"type", "title", "status", "detail"}
    assert problem["status"] == status
    for secret in ("Traceback", "SELECT", "UPDATE", "INSERT", "boss_keyword", "Error("):
        assert secret not in answer.text
    return problem


# --- a database that others use too -----------------------------------------------------------------------------------


@contextmanager
def locked_by_another(url: str) -> Iterator[Callable[[], None]]:
    """Another program holds the locks of everything that is written; gives the function that lets go."""
    if url.startswith("mysql"):
        with closing(mariadb.connect(url)) as other, other.cursor() as cursor:
            other.begin()
            for table in TABLES:
                cursor.execute(f"SELECT * FROM {table} FOR UPDATE")
            yield other.rollback
            other.rollback()
    else:
        with closing(sqlite3.connect(url.removeprefix("sqlite://"), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield other.rollback
            other.rollback()


async def wait_for_locks(sqlite_milliseconds: int, mysql_seconds: int) -> None:
    """Set how long each open connection waits for a lock."""
    mysql = database.is_mysql()
    for _ in range(database.database_client().pool_maxsize if mysql else 1):  # type: ignore[attr-defined]
        await database.execute(
            f"SET SESSION innodb_lock_wait_timeout = {mysql_seconds}"
            if mysql
            else f"PRAGMA busy_timeout = {sqlite_milliseconds}"
        )


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations are not tried again. (Eight attempts at five seconds each are what a lock on MariaDB takes.)"""
    monkeypatch.setattr(database, "ATTEMPTS", 1)


@pytest.fixture
async def impatient(api: Api) -> AsyncIterator[None]:
    """Connections that do not wait for locks, so that a lock is met at once and not after five seconds."""
    await wait_for_locks(0, 0)
    yield
    await wait_for_locks(5000, 5)


def waiting_connection(url: str) -> int:
    """The connection that waits for a lock in this database, once there is one (MariaDB)."""
    waiting = (
        "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx JOIN information_schema.processlist"
        " ON id = trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()"
    )
    for _ in range(100):
        for (thread,) in mariadb.run_sql(url, waiting):
            assert isinstance(thread, int)
            return thread
        time.sleep(0.2)  # the server renews this table only when nobody has read it for 0.1 s
    raise TimeoutError("no statement waits")


class AtFirstRetry(logging.Handler):
    """Lets go of the locks when the service logs that it tries again."""

    def __init__(self, let_go: Callable[[], None]) -> None:
        super().__init__()
        self._let_go = let_go
        self.retries = 0

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().endswith("tried again"):
            self.retries += 1
            self._let_go()


@contextmanager
def locked_until_first_retry(url: str) -> Iterator[AtFirstRetry]:
    logger = logging.getLogger("app.core.database")
    level = logger.level
    with locked_by_another(url) as let_go:
        handler = AtFirstRetry(let_go)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield handler
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


WRITES: dict[str, dict[str, Any]] = {
    "/page-progress": {"page": 1, "jobs_found": 15},
    "/crawl-complete": {"status": "failed"},
    "/heartbeat": {},
    "/release": {"reason": "stopped"},
}


@pytest.mark.parametrize("call", WRITES)
async def test_a_report_that_meets_a_lock_is_tried_again_and_counts_once(
    api: Api, session_database: str, impatient: None, call: str
) -> None:
    await api.add("python")
    claim = await api.claim()
    with locked_until_first_retry(session_database) as lock:
        await api.post(call, **held(claim), **WRITES[call])
    assert lock.retries == 1
    keyword = await api.keyword(claim["id"])
    assert keyword["jobs_found"] == (15 if call == "/page-progress" else 0)
    assert keyword["retry_count"] == (1 if call == "/crawl-complete" else 0)


async def test_a_claim_that_meets_a_lock_is_tried_again(api: Api, session_database: str, impatient: None) -> None:
    await api.add("a", "b")
    with locked_until_first_retry(session_database) as lock:
        assert jobs(await api.claim(limit=2)) == ["a", "b"]
    assert lock.retries == 1


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("", {"city": "北京", "job": "java"}),
        ("/bulk", {"keywords": [{"city": "北京", "job": "java"}]}),
        ("/pause", {"reason": "board is down"}),
        ("/resume", {}),
    ],
)
async def test_an_operators_call_that_meets_a_lock_is_tried_again(
    api: Api, session_database: str, impatient: None, call: str, body: dict[str, Any]
) -> None:
    await api.add("python")
    await api.post("/pause")
    with locked_until_first_retry(session_database) as lock:
        await api.post(call, **body)
    assert lock.retries == 1


async def test_mark_used_that_meets_a_lock_is_tried_again(api: Api, session_database: str, impatient: None) -> None:
    [keyword_id] = await api.add("python")
    with locked_until_first_retry(session_database):
        assert (await api.post("/mark-used", keyword_id=keyword_id))["applied"] is True


async def test_a_lock_that_nobody_lets_go_of_is_told_as_503_and_nothing_is_lost(
    api: Api, session_database: str, impatient: None, one_attempt: None
) -> None:
    await api.add("python")
    claim = await api.claim()
    body = {"source": "boss", "page": 1, **held(claim)}
    with locked_by_another(session_database):
        answer = await api.raw.post("/api/v1/keyword/page-progress", json=body)
    problem = problem_of(answer, 503)
    assert (problem["type"], answer.headers["retry-after"]) == ("/problems/database-unavailable", "5")
    assert (await api.page(claim, 1))["applied"] is True


async def test_a_claim_that_is_told_503_has_claimed_nothing(
    api: Api, session_database: str, impatient: None, one_attempt: None
) -> None:
    await api.add("python")
    with locked_by_another(session_database):
        answer = await api.raw.get("/api/v1/keyword/available?source=boss&reserve=true&crawler_id=spider")
    assert problem_of(answer, 503)["detail"] == "The database is too busy. Try again in a moment."
    assert jobs(await api.look()) == ["python"]


async def test_what_is_only_read_is_answered_while_another_program_writes(
    api: Api, session_database: str, impatient: None
) -> None:
    await api.add("python")
    with locked_by_another(session_database):
        assert jobs(await api.look()) == ["python"]
        assert (await api.stats())["total"] == 1
        assert len((await api.get("", source="boss"))["items"]) == 1


async def test_a_claim_does_not_wait_for_its_turn_for_ever(
    api: Api, session_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "TURN_SECONDS", 0.01)
    await api.add("a", "b")
    query = "/api/v1/keyword/available?source=boss&reserve=true&crawler_id=spider"
    with locked_by_another(session_database) as let_go:
        first = asyncio.create_task(api.claim("first"))
        second = asyncio.create_task(api.raw.get(query))
        assert problem_of(await second, 503)["detail"].startswith("Too many claims are waiting")
        let_go()
    assert (await first)["job"] == "a"


async def test_a_deadlock_is_tried_again(api: Api, session_database: str, caplog: pytest.LogCaptureFixture) -> None:
    if not database.is_mysql():
        pytest.skip("SQLite locks the whole database: it has no deadlocks")
    caplog.set_level("INFO", "app.core.database")
    first, *others = await api.add(*"abcdef")
    with closing(mariadb.connect(session_database)) as other, other.cursor() as cursor:
        other.begin()
        # It has changed more rows, so that the service's transaction is the one that is rolled back.
        cursor.execute("UPDATE boss_keyword SET total_pages = 1 WHERE id >= %s", (others[0],))
        claim = asyncio.create_task(api.claim(limit=2))
        await asyncio.to_thread(waiting_connection, session_database)
        await asyncio.to_thread(cursor.execute, "UPDATE boss_keyword SET total_pages = 1 WHERE id = %s", (first,))
        other.rollback()
    assert jobs(await claim) == ["a", "b"]
    assert "claim_rows: OperationalError, tried again" in caplog.messages


# --- a database that is away ------------------------------------------------------------------------------------------


async def answer_of_a_failing_database(api: Api, url: str, call: str, body: dict[str, Any]) -> httpx.Response:
    """The answer when the server's connection is cut in the middle of the statement, or the disk is full."""
    path = f"/api/v1/keyword{call}"
    if not database.is_mysql():
        pages = (await database.fetch("PRAGMA page_count"))[0][0]
        await by_hand(f"PRAGMA max_page_count = {pages}")
        try:
            return await api.raw.post(path, json={"source": "boss", **body})
        finally:
            await by_hand("PRAGMA max_page_count = 4294967294")
    with locked_by_another(url):
        request = asyncio.create_task(api.raw.post(path, json={"source": "boss", **body}))
        mariadb.run_sql(url, f"KILL {await asyncio.to_thread(waiting_connection, url)}")
        return await request


async def test_a_database_that_fails_is_told_as_503_and_the_next_call_works(api: Api, session_database: str) -> None:
    names = [{"city": "北京" * 100, "job": f"{number} " + "京" * 250} for number in range(200)]
    answer = await answer_of_a_failing_database(api, session_database, "/bulk", {"keywords": names})
    problem = problem_of(answer, 503)
    assert problem["detail"] == "The database does not answer. Try again in a moment."
    assert (problem["type"], answer.headers["retry-after"]) == ("/problems/database-unavailable", "5")
    assert (await api.stats())["total"] == 0
    assert await api.post("/bulk", keywords=names) == {"created": 200, "existing": 0}


# --- the unexpected ---------------------------------------------------------------------------------------------------


async def test_an_unexpected_error_is_500_without_a_word_of_what_it_was(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    await api.add("python")
    await by_hand("UPDATE boss_keyword SET crawl_status = 'my-secret'")
    answer = await api.raw.get("/api/v1/keyword/available", params={"source": "boss"})
    problem = problem_of(answer, 500)
    assert (problem["type"], problem["title"]) == ("about:blank", "Internal Server Error")
    assert "my-secret" not in answer.text + caplog.text
    assert "Traceback" not in caplog.text


async def test_an_unexpected_error_is_one_log_line_that_names_the_place_in_the_service(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    await api.add("python")
    await by_hand("UPDATE boss_keyword SET crawl_status = 'my-secret'")
    await api.raw.get("/api/v1/keyword/available", params={"source": "boss"})
    [line] = caplog.messages
    assert line.startswith("unexpected ValueError in GET /api/v1/keyword/available at ")
    assert "app/models/keyword_row.py:" in line


async def test_what_the_database_says_of_a_refused_statement_is_not_passed_on(api: Api) -> None:
    with pytest.raises(StatementRefused) as caught:
        await database.execute("UPDATE boss_keyword SET city = 'a' WHERE my_secret = 1")
    assert "my_secret" not in str(caught.value)


async def test_a_row_that_the_database_refuses_is_not_taken_for_an_outage(api: Api) -> None:
    with pytest.raises(StatementRefused):
        await database.execute(
            "INSERT INTO boss_keyword (city, job, created_at, updated_at) "
            "VALUES (NULL, 'a', '2026-03-02', '2026-03-02')"
        )
    assert database.interruption.seen is False


@pytest.fixture
async def small() -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application with the service's error handling, and faults of its own."""
    app = FastAPI()
    add_error_handlers(app)

    @app.get("/contention")
    async def contention() -> None:
        raise Contention("my-secret")

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://small") as client:
        yield client


async def test_contention_that_nobody_handled_is_told_as_503(small: httpx.AsyncClient) -> None:
    answer = await small.get("/contention")
    assert problem_of(answer, 503)["type"] == "/problems/database-unavailable"
    assert answer.headers["retry-after"] == "5"
    assert "my-secret" not in answer.text


async def test_an_error_in_the_middle_of_an_answer_ends_it_without_a_second_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"first"
        raise ValueError("my-secret")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "asgi": {"spec_version": "2.4"}}
    await UnexpectedErrors(StreamingResponse(content()))(scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert "my-secret" not in caplog.text


# --- what is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/nowhere", "/api/v1/keyword/nowhere", "/api/v2/keyword/stats", "/api/v1/keyword/1"])
async def test_an_unknown_path_is_404(api: Api, path: str) -> None:
    assert problem_of(await api.raw.get(path), 404)["title"] == "Not Found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/available", "GET"),
        ("POST", "/stats", "GET"),
        ("GET", "/page-progress", "POST"),
        ("GET", "/crawl-complete", "POST"),
        ("PUT", "/release", "POST"),
        ("DELETE", "/heartbeat", "POST"),
    ],
)
async def test_a_wrong_method_is_405_and_tells_the_right_one(api: Api, method: str, path: str, allowed: str) -> None:
    answer = await api.raw.request(method, f"/api/v1/keyword{path}")
    assert problem_of(answer, 405)["title"] == "Method Not Allowed"
    assert answer.headers["allow"] == allowed

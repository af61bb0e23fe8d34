"""What a client is told when something fails: a problem document, never a traceback, a statement or a value."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from starlette.types import Message

from app.api.problem_details import UnexpectedErrors, add_error_handlers
from app.core import database, database_errors
from app.core.errors import Contention, StatementRefused
from tests import mariadb
from tests.service.conftest import Api, by_hand, problem_of
from tests.service.rivals import locked_by_another, waiting_connection

# --- a database that is away ------------------------------------------------------------------------------------------


async def answer_of_a_failing_database(api: Api, url: str, call: str, body: dict[str, Any]) -> httpx.Response:
    """The answer when the server's connection is cut in the middle of the statement, or the disk is full."""
    path = f"/api/v1/keyword{call}"
    if not database.is_mysql():
        await by_hand("VACUUM")  # pages that other tests have freed would take what is to find no room
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
    assert database_errors.interruption.seen is False


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


async def test_an_error_outside_of_a_request_is_left_to_the_server() -> None:
    async def fail(*_: object) -> None:
        raise ValueError("start-up failed")

    with pytest.raises(ValueError, match="start-up failed"):
        await UnexpectedErrors(fail)({"type": "lifespan"}, fail, fail)  # type: ignore[arg-type]


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

"""Calls that arrive at once go to the database together, and each still has its own outcome."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from app.core import database, database_errors
from app.core.database import Connection, Result, Statement
from tests import mariadb
from tests.service.conftest import Api, held
from tests.service.rivals import at_log, wait_for_locks

COMPLETED = {"status": "completed"}


async def some_claims(api: Api, number: int) -> list[dict[str, Any]]:
    await api.add(*(f"job {each}" for each in range(number)))
    claims = [claim for _ in range(0, number, 50) for claim in await api.claim(limit=min(number, 50))]
    assert len(claims) == number
    return claims


async def all_keywords(api: Api) -> list[dict[str, Any]]:
    keywords: list[dict[str, Any]] = (await api.get("", source="boss", limit=500))["items"]
    return keywords


async def at_once(api: Api, path: str, bodies: list[dict[str, Any]]) -> list[httpx.Response]:
    calls = (api.raw.post(f"/api/v1/keyword{path}", json={"source": "boss", **body}) for body in bodies)
    return await asyncio.gather(*calls)


@pytest.mark.parametrize(
    ("call", "more"),
    [("/page-progress", {"page": 1, "jobs_found": 15}), ("/crawl-complete", COMPLETED), ("/heartbeat", {})],
)
async def test_reports_at_once_take_few_statements_and_each_is_answered(
    api: Api, sent: list[Statement], call: str, more: dict[str, Any]
) -> None:
    claims = await some_claims(api, 100)
    sent.clear()
    answers = await at_once(api, call, [{**held(claim), **more} for claim in claims])
    assert {answer.status_code for answer in answers} == {200}
    assert len([statement for statement in sent if "UPDATE" in statement.sql]) <= 5
    for answer in answers:
        told = answer.json()["data"]
        assert (told["renewed"] == 1) if call == "/heartbeat" else (told["applied"] is True)
    keywords = await all_keywords(api)
    assert {keyword["status"] for keyword in keywords} == {"completed" if call == "/crawl-complete" else "crawling"}
    assert sum(keyword["jobs_found"] for keyword in keywords) == (1500 if call == "/page-progress" else 0)


async def test_each_report_of_a_batch_writes_its_own_values(api: Api) -> None:
    claims = await some_claims(api, 40)
    bodies = [
        {**held(claim), "page": page, "jobs_found": page * 2, **({"total_pages": page + 5} if page % 2 else {})}
        for page, claim in enumerate(claims, start=1)
    ]
    answers = await at_once(api, "/page-progress", bodies)
    assert [answer.json()["data"]["last_completed_page"] for answer in answers] == list(range(1, 41))
    keywords = {keyword["id"]: keyword for keyword in await all_keywords(api)}
    for page, claim in enumerate(claims, start=1):
        keyword = keywords[claim["id"]]
        assert (keyword["last_completed_page"], keyword["jobs_found"]) == (page, page * 2)
        assert keyword["total_pages"] == (page + 5 if page % 2 else None)
    endings = [{**held(claim), **COMPLETED, "error_message": f"end {claim['id']}"} for claim in claims]
    answers = await at_once(api, "/crawl-complete", endings)
    assert {answer.json()["data"]["crawl_status"] for answer in answers} == {"completed"}
    assert all(keyword["error_message"] == f"end {keyword['id']}" for keyword in await all_keywords(api))


async def test_a_wrong_report_among_many_is_refused_alone(api: Api) -> None:
    claims = await some_claims(api, 30)
    bodies = [{**held(claim), "page": 1, "jobs_found": 10} for claim in claims]
    bodies[7]["claim_token"] = "somebody else's"
    bodies[9]["keyword_id"] = 10**9
    bodies[11]["crawler_id"] = "another"
    bodies[13]["crawler_id"] = "spider"
    answers = await at_once(api, "/page-progress", bodies)
    refused = {number: answer.status_code for number, answer in enumerate(answers) if answer.status_code != 200}
    assert refused == {7: 409, 9: 404, 11: 409}
    assert sum(keyword["jobs_found"] for keyword in await all_keywords(api)) == 270


async def test_one_report_sent_two_hundred_times_at_once_counts_once(api: Api) -> None:
    claim = (await some_claims(api, 2))[0]
    answers = await at_once(api, "/page-progress", [{**held(claim), "page": 1, "jobs_found": 15}] * 200)
    assert {answer.status_code for answer in answers} == {200}
    assert [answer.json()["data"]["applied"] for answer in answers].count(True) == 1
    assert (await api.keyword(claim["id"]))["jobs_found"] == 15


async def test_a_batch_tells_of_a_pause(api: Api) -> None:
    claims = await some_claims(api, 20)
    await api.post("/pause", reason="board is down")
    answers = await at_once(api, "/page-progress", [{**held(claim), "page": 1} for claim in claims])
    assert all(answer.json()["data"]["should_stop"] for answer in answers)
    answers = await at_once(api, "/heartbeat", [held(claim) for claim in claims])
    assert all(answer.json()["data"]["should_stop"] for answer in answers)


async def test_a_report_whose_caller_has_gone_holds_up_nobody(api: Api) -> None:
    claims = await some_claims(api, 30)
    calls = [asyncio.create_task(api.page(claim, 1, 10)) for claim in claims]

    def some_go() -> None:
        for call in calls[10:20]:
            call.cancel()

    with at_log("page done", some_go):
        await asyncio.wait(calls)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(answer, dict) for answer in answers] == [not 10 <= number < 20 for number in range(30)]


async def test_a_queue_that_is_full_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = await some_claims(api, 30)
    monkeypatch.setattr("app.core.batching.LONGEST_QUEUE", 5)
    answers = await at_once(api, "/heartbeat", [held(claim) for claim in claims])
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused
    assert {(answer.status_code, answer.headers["Retry-After"]) for answer in refused} == {(503, "5")}
    assert [answer.status_code for answer in answers].count(200) >= 5


@pytest.fixture
async def lock_wait_of_a_second(api: Api) -> AsyncIterator[None]:
    await wait_for_locks(seconds=1)
    yield
    await wait_for_locks(seconds=5)


async def test_a_locked_keyword_holds_up_no_other_for_longer_than_one_lock_wait(
    api: Api, session_database: str, lock_wait_of_a_second: None
) -> None:
    if session_database.startswith("sqlite"):
        pytest.skip("SQLite has one lock for the whole database")
    claims = await some_claims(api, 30)
    locked = claims[5]
    with closing(mariadb.connect(session_database)) as other, other.cursor() as cursor:
        other.begin()
        cursor.execute("SELECT * FROM boss_keyword WHERE id = %s FOR UPDATE", (locked["id"],))
        calls = {claim["id"]: asyncio.create_task(api.page(claim, 1, 10)) for claim in claims}
        stuck = calls.pop(locked["id"])
        answers = await asyncio.gather(*calls.values())
        assert all(answer["applied"] for answer in answers)
        assert not stuck.done()
        other.rollback()
    assert (await stuck)["applied"]
    assert sum(keyword["jobs_found"] for keyword in await all_keywords(api)) == 300


async def test_a_database_away_reaches_everybody_who_waits(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = await some_claims(api, 30)

    async def away(self: Connection, statements: Any) -> list[Result]:
        await asyncio.sleep(0)
        raise OSError("gone")

    with monkeypatch.context() as broken:
        for kind in (database.MySQLConnection, database.SQLiteConnection):
            broken.setattr(kind, "_run", away)
        answers = await at_once(api, "/page-progress", [{**held(claim), "page": 1} for claim in claims])
    assert {answer.status_code for answer in answers} == {503}
    database_errors.interruption.seen = False
    answers = await at_once(api, "/page-progress", [{**held(claim), "page": 1} for claim in claims])
    assert {answer.status_code for answer in answers} == {200}

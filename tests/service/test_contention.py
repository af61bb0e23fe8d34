"""Locks, deadlocks and lost races: tried again, and told only when there is no end to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from app.controllers.closures import end_cooldown
from app.controllers.presence import note_alive
from app.core import batching, database
from app.core.enums import Source
from app.core.settings import CrawlRules
from tests import mariadb
from tests.service.conftest import Api, MovableTime, Now, Sweep, by_hand, held, jobs, problem_of
from tests.service.rivals import (
    at_log,
    locked_by_another,
    locked_until_first_retry,
    until_it_waits,
    wait_for_locks,
)

ADD_A = "INSERT INTO boss_keyword (city, job, created_at, updated_at) VALUES ('北京', 'a', '2026-03-02', '2026-03-02')"
TAKE_A = (
    "UPDATE boss_keyword SET crawl_status = 'crawling', claim_token = 'theirs', last_requested_date = '2026-03-02',"
    " lease_expires_at = '2026-03-02 03:00:00' WHERE job = 'a'"
)
WRITES: dict[str, dict[str, Any]] = {
    "/page-progress": {"page": 1, "jobs_found": 15},
    "/crawl-complete": {"status": "failed"},
    "/heartbeat": {},
    "/release": {"reason": "stopped"},
}


@pytest.fixture
async def impatient(api: Api) -> AsyncIterator[None]:
    """Connections that do not wait for locks, so that a lock is met at once and not after five seconds."""
    await wait_for_locks(seconds=0)
    yield
    await wait_for_locks(seconds=5)


@pytest.mark.parametrize("call", WRITES)
async def test_a_report_that_meets_a_lock_is_tried_again_and_counts_once(
    api: Api, session_database: str, impatient: None, call: str
) -> None:
    await api.add("python")
    claim = await api.claim()
    with locked_until_first_retry(session_database) as lock:
        await api.post(call, **held(claim), **WRITES[call])
    assert lock.times == 1
    keyword = await api.keyword(claim["id"])
    assert keyword["jobs_found"] == (15 if call == "/page-progress" else 0)
    assert keyword["retry_count"] == (1 if call == "/crawl-complete" else 0)


async def test_a_claim_that_meets_a_lock_is_tried_again(api: Api, session_database: str, impatient: None) -> None:
    await api.add("a", "b")
    with locked_until_first_retry(session_database) as lock:
        assert jobs(await api.claim(limit=2)) == ["a", "b"]
    assert lock.times == 1


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
    assert lock.times == 1


async def test_the_end_of_a_cool_down_that_meets_a_lock_is_tried_again(
    api: Api, moment: Now, session_database: str, impatient: None
) -> None:
    started = "INSERT INTO source_cooldown (source, strikes, until, reason) VALUES ('boss', 1, ?, '')"
    await by_hand(started, moment().tomorrow)
    with locked_until_first_retry(session_database) as lock:
        await end_cooldown(Source.BOSS)
    assert lock.times == 1


async def test_a_sweep_that_meets_a_lock_is_tried_again(
    api: Api, clock: MovableTime, sweep: Sweep, session_database: str, impatient: None
) -> None:
    await api.add("python")
    await api.claim()
    clock.advance(minutes=31)
    with locked_until_first_retry(session_database) as lock:
        assert await sweep() == 1
    assert lock.times == 1


async def test_a_sign_of_life_that_meets_a_lock_is_tried_again(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, session_database: str, impatient: None
) -> None:
    await note_alive(moment(), rules)
    clock.advance(minutes=1)
    with locked_until_first_retry(session_database) as lock:
        await note_alive(moment(), rules)
    assert lock.times == 1
    [(noted,)] = await database.fetch("SELECT alive_at FROM service_state")
    assert database.as_time(noted) == moment().now


async def test_mark_used_that_meets_a_lock_is_tried_again(api: Api, session_database: str, impatient: None) -> None:
    [keyword_id] = await api.add("python")
    with locked_until_first_retry(session_database):
        assert (await api.post("/mark-used", keyword_id=keyword_id))["applied"] is True


async def test_a_keyword_that_another_server_takes_first_is_passed_over(
    api: Api, session_database: str, impatient: None
) -> None:
    await api.add("a", "b", "c")
    with locked_until_first_retry(session_database, TAKE_A):
        assert jobs(await api.claim(limit=2)) == ["b", "c"]


async def test_when_another_server_takes_the_last_keyword_first_there_is_none(
    api: Api, session_database: str, impatient: None
) -> None:
    await api.add("a")
    with locked_until_first_retry(session_database, TAKE_A):
        assert await api.claim() is None


async def test_mark_used_leaves_a_keyword_that_another_server_takes_first(
    api: Api, session_database: str, impatient: None
) -> None:
    [keyword_id] = await api.add("a")
    with locked_until_first_retry(session_database, TAKE_A):
        assert (await api.post("/mark-used", keyword_id=keyword_id))["applied"] is False
    assert (await api.keyword(keyword_id))["status"] == "crawling"


async def test_what_is_claimed_is_handed_out_although_the_database_fails_before_all_are(
    api: Api, session_database: str, impatient: None
) -> None:
    await api.add("a", "b", "c")
    with ExitStack() as stack:
        stack.enter_context(locked_until_first_retry(session_database, TAKE_A))
        stack.enter_context(at_log("claimed", lambda: stack.enter_context(locked_by_another(session_database))))
        claims = await api.claim(limit=2)
    assert jobs(claims) == ["b"]
    assert (await api.page(claims[0], 1))["applied"] is True


async def test_a_crawl_that_reports_while_it_is_being_swept_is_left_alone(
    api: Api, clock: MovableTime, sweep: Sweep, session_database: str
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    with locked_by_another(
        session_database, "UPDATE boss_keyword SET lease_expires_at = '2026-03-02 04:00:00'"
    ) as commit:
        swept = asyncio.ensure_future(sweep())
        await until_it_waits(session_database, swept)
        commit()
        assert await swept == 0
    assert (await api.keyword(claim["id"]))["status"] == "crawling"


async def test_names_are_added_although_another_server_adds_one_of_them_first(api: Api, session_database: str) -> None:
    names = [{"city": "北京", "job": job} for job in ("a", "b")]
    with locked_by_another(session_database, ADD_A) as commit:
        adding = asyncio.create_task(api.post("/bulk", keywords=names))
        await until_it_waits(session_database, adding)
        commit()
        assert await adding == {"created": 1, "existing": 1}


async def test_a_request_that_is_given_up_while_it_waits_for_a_lock_loses_no_keyword(
    api: Api, clock: MovableTime, session_database: str
) -> None:
    await api.add("python")
    with locked_by_another(session_database):
        claim = asyncio.create_task(api.claim("gone"))
        await until_it_waits(session_database, claim)
        claim.cancel()
    with pytest.raises(asyncio.CancelledError):
        await claim
    # The database may have carried it out all the same, which is as if its answer had been lost.
    clock.advance(minutes=31)
    assert (await api.claim("next"))["job"] == "python"


async def test_a_lock_that_nobody_lets_go_of_is_told_as_503_and_nothing_is_lost(
    api: Api, session_database: str, impatient: None
) -> None:
    await api.add("python")
    claim = await api.claim()
    body = {"source": "boss", "page": 1, **held(claim)}
    with locked_by_another(session_database):
        answer = await api.raw.post("/api/v1/keyword/page-progress", json=body)
    problem = problem_of(answer, 503)
    assert (problem["type"], answer.headers["retry-after"]) == ("/problems/database-unavailable", "5")
    assert (await api.page(claim, 1))["applied"] is True


async def test_a_claim_that_is_told_503_has_claimed_nothing(api: Api, session_database: str, impatient: None) -> None:
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


async def test_a_claim_that_waited_too_long_for_its_turn_is_not_made(
    api: Api, session_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.add("a", "b")
    query = "/api/v1/keyword/available?source=boss&reserve=true&crawler_id=spider"
    with locked_by_another(session_database) as commit:
        first = asyncio.create_task(api.raw.get(query))
        await until_it_waits(session_database, first)
        monkeypatch.setattr(batching, "WAIT_SECONDS", 0)
        second = asyncio.create_task(api.raw.get(query))
        await asyncio.wait({second}, timeout=0.1)
        commit()
        assert (await first).status_code == 200
    assert problem_of(await second, 503)["detail"].startswith("The database is too slow")
    assert jobs(await api.look()) == ["b"]


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
        await until_it_waits(session_database, claim)
        await asyncio.to_thread(cursor.execute, "UPDATE boss_keyword SET total_pages = 1 WHERE id = %s", (first,))
        other.rollback()
    assert jobs(await claim) == ["a", "b"]
    assert "claim_rows: OperationalError, tried again" in caplog.messages

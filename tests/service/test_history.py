"""What happened on earlier days is kept when a fresh claim resets a keyword (I9)."""

from datetime import date, timedelta

import pytest

from tests.service.conftest import MORNING, Api, MovableTime, Sweep, by_hand, held, history


async def test_a_day_is_kept_with_all_its_values(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python", city="上海")
    claim = await api.claim("spider-7")
    await api.page(claim, 2, jobs=30, total_pages=2)
    clock.advance(minutes=10)
    await api.complete(claim)
    clock.advance(days=1)
    await api.claim("spider-8")
    assert await history() == [
        {
            "source": "boss", "keyword_id": keyword_id, "business_date": date(2026, 3, 2), "city": "上海",
            "job": "python", "state": "completed", "last_completed_page": 2, "total_pages": 2, "jobs_found": 30,
            "retry_count": 0, "crawler_id": "spider-7", "error_message": "", "crawl_started_at": MORNING,
            "crawl_finished_at": MORNING + timedelta(minutes=10),
        }
    ]  # fmt: skip


async def test_a_fresh_claim_starts_from_nothing(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    claim = await api.claim("old")
    await api.page(claim, 3, jobs=40, total_pages=9)
    await api.fail(claim, "shape changed")
    clock.advance(days=1)
    fresh = await api.claim("new")
    assert (fresh["last_completed_page"], fresh["total_pages"], fresh["retry_count"]) == (0, None, 0)
    keyword = await api.keyword(keyword_id)
    shown = ("jobs_found", "error_message", "crawl_finished_at", "crawler_id", "total_pages", "last_completed_page")
    assert [keyword[name] for name in shown] == [0, "", None, "new", None, 0]


async def test_a_released_day_is_kept_as_partial_with_its_reason(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 2)
    await api.release("blocked", "code 37", **held(claim))
    clock.advance(days=1)
    await api.claim()
    [kept] = await history()
    assert (kept["state"], kept["last_completed_page"], kept["error_message"]) == ("partial", 2, "blocked: code 37")


async def test_a_day_of_three_failures_is_kept_with_their_number(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    for _ in range(3):
        await api.fail(await api.claim())
    clock.advance(days=1)
    await api.claim()
    [kept] = await history()
    assert (kept["state"], kept["retry_count"]) == ("failed", 3)


async def test_a_swept_crawl_is_kept_as_the_sweep_left_it(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    await api.claim()
    clock.advance(minutes=31)
    await sweep()
    clock.advance(days=1)
    await api.claim()
    [kept] = await history()
    assert (kept["state"], kept["retry_count"]) == ("failed", 1)
    assert kept["error_message"] == "no sign of life for 30 min, no page finished"


async def test_mark_used_keeps_the_day_before_too(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    await api.post("/mark-used", keyword_id=keyword_id)
    clock.advance(days=1)
    await api.post("/mark-used", keyword_id=keyword_id)
    assert [(kept["business_date"], kept["state"]) for kept in await history()] == [(date(2026, 3, 2), "untracked")]


async def test_every_keyword_of_a_claim_of_many_is_kept(api: Api, clock: MovableTime) -> None:
    ids = await api.add("a", "b", "c")
    for claim in await api.claim(limit=3):
        await api.complete(claim)
    clock.advance(days=1)
    await api.claim(limit=3)
    assert [kept["keyword_id"] for kept in await history()] == ids


async def test_keywords_of_two_sources_with_the_same_id_are_kept_apart(api: Api, clock: MovableTime) -> None:
    for source in ("qcwy", "zhilian"):
        await by_hand(
            f"INSERT INTO {source}_keyword (id, city, job, last_requested_date, created_at, updated_at) "
            "VALUES (77000000, '北京', 'python', '2026-03-01', '2026-03-01', '2026-03-01')"
        )
        await api.claim(source=source)
    assert [(kept["source"], kept["state"]) for kept in await history()] == [
        ("qcwy", "untracked"), ("zhilian", "untracked"),
    ]  # fmt: skip


async def test_a_retry_of_the_same_day_is_no_history(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim())
    await api.claim()
    assert await history() == []


async def test_nothing_is_reset_when_the_history_cannot_be_kept(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    await api.complete(await api.claim())
    clock.advance(days=1)
    before = await api.keyword(keyword_id)
    await by_hand("ALTER TABLE keyword_history RENAME TO keyword_history_away")
    try:
        answer = await api.raw.get("/api/v1/keyword/available?source=boss&reserve=true&crawler_id=spider")
    finally:
        await by_hand("ALTER TABLE keyword_history_away RENAME TO keyword_history")
    assert answer.status_code in {500, 503}
    assert await api.keyword(keyword_id) == before


@pytest.mark.parametrize("days", [1, 30])
async def test_the_day_that_is_kept_is_the_day_of_the_crawl(api: Api, clock: MovableTime, days: int) -> None:
    await api.add("python")
    await api.complete(await api.claim())
    clock.advance(days=days)
    await api.claim()
    assert [kept["business_date"] for kept in await history()] == [date(2026, 3, 2)]

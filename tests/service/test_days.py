"""Midnight: what ends with the business day, what lives on, and what the history keeps (I1, I9)."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.service.conftest import SHANGHAI, Api, MovableTime, Sweep, held, history

EVENING = datetime(2026, 3, 2, 23, 50, tzinfo=SHANGHAI)


async def test_a_new_day_begins_at_midnight_in_shanghai(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    await api.complete(await api.claim())
    clock.advance(minutes=9, seconds=59)
    assert await api.look() == []
    clock.advance(seconds=1)
    assert len(await api.look()) == 1


async def test_the_first_claim_ever_leaves_no_history(api: Api) -> None:
    await api.add("python")
    await api.claim()
    assert await history() == []


async def test_a_resume_leaves_no_history(api: Api) -> None:
    await api.add("python")
    await api.claim()
    await api.post("/release", crawler_id="spider")
    await api.claim()
    assert await history() == []


@pytest.mark.parametrize(("pages", "state", "tries"), [(2, "partial", 0), (0, "failed", 1)])
async def test_a_crawl_that_died_in_the_night_is_fresh_and_its_day_is_kept(
    api: Api, clock: MovableTime, pages: int, state: str, tries: int
) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("dead")
    if pages:
        await api.page(claim, pages)
    clock.advance(minutes=31)
    fresh = await api.claim("next")
    assert (fresh["last_completed_page"], fresh["crawl_status"]) == (0, "idle")
    [kept] = await history()
    assert (kept["state"], kept["retry_count"], kept["business_date"]) == (state, tries, date(2026, 3, 2))


async def test_a_crawl_alive_at_midnight_is_not_handed_out(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("night")
    clock.advance(minutes=20)
    await api.page(claim, 1)
    assert await api.claim("other") is None
    assert (await api.keyword(claim["id"]))["status"] == "crawling"


async def test_a_late_completion_counts_for_the_day_of_its_claim(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("night")
    clock.advance(minutes=20)
    assert (await api.complete(claim))["applied"] is True
    assert (await api.stats(on_date="2026-03-02"))["crawl_status"]["completed"] == 1
    assert (await api.stats())["used"] == 0
    assert (await api.claim("morning"))["crawl_status"] == "idle"


async def test_after_a_week_only_the_last_crawled_day_is_added_to_the_history(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.complete(await api.claim())
    clock.advance(days=7)
    await api.complete(await api.claim())
    clock.advance(days=1)
    await api.claim()
    assert [kept["business_date"] for kept in await history()] == [date(2026, 3, 2), date(2026, 3, 9)]


async def test_a_clock_set_back_over_midnight_hands_out_nothing_twice(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(datetime(2026, 3, 3, 0, 2, tzinfo=SHANGHAI))
    await api.complete(await api.claim())
    clock.advance(minutes=-5)
    assert await api.claim("other") is None


async def test_a_late_failure_counts_for_the_day_of_its_claim(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("night")
    clock.advance(minutes=20)
    assert (await api.complete(claim, "failed"))["retry_count"] == 1
    assert (await api.stats(on_date="2026-03-02"))["crawl_status"]["failed"] == 1
    assert (await api.claim("morning"))["retry_count"] == 0


async def test_a_crawl_that_runs_through_the_night_stays_one_crawl(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("night")
    for page in range(1, 7):
        clock.advance(minutes=29)
        assert (await api.page(claim, page, jobs=10))["applied"] is True
    keyword = await api.keyword(claim["id"])
    assert (keyword["last_requested_date"], keyword["jobs_found"]) == ("2026-03-02", 60)


async def test_an_overnight_crawl_comes_back_to_life_while_nobody_took_it(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    clock.set(EVENING)
    claim = await api.claim("night")
    await api.page(claim, 1)
    clock.advance(minutes=31)
    await sweep()
    await api.page(claim, 2)
    assert await api.claim("morning") is None
    assert (await api.keyword(claim["id"]))["last_requested_date"] == "2026-03-02"


async def test_an_overnight_crawl_that_was_taken_over_is_lost(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(EVENING)
    night = await api.claim("night")
    clock.advance(minutes=31)
    await api.claim("morning")
    assert await api.refused("/crawl-complete", status="completed", **held(night)) == (409, "claim-lost")


async def test_at_midnight_every_ended_keyword_counts_as_idle_again(api: Api, clock: MovableTime) -> None:
    await api.add("completed", "failed", "partial", "untracked")
    completed, failed, partial, _ = await api.claim(limit=4)
    await api.complete(completed)
    await api.complete(failed, "failed")
    await api.post("/release", **held(partial))
    clock.set(datetime(2026, 3, 3, 0, 0, tzinfo=SHANGHAI) + timedelta(hours=1))
    items = (await api.get("", source="boss"))["items"]
    assert {item["status"] for item in items} == {"idle"}
    look = await api.look()
    assert [claim["job"] for claim in look] == ["completed", "failed", "partial", "untracked"]
    assert {claim["crawl_status"] for claim in look} == {"idle"}


async def test_the_morning_in_shanghai_is_still_yesterday_in_utc_and_counts_as_today(
    api: Api, clock: MovableTime
) -> None:
    await api.add("python")
    clock.set(datetime(2026, 3, 2, 16, 30, tzinfo=UTC))
    claim = await api.claim()
    assert (await api.keyword(claim["id"]))["last_requested_date"] == "2026-03-03"
    assert (await api.stats())["date"] == "2026-03-03"


async def test_a_clock_set_back_over_midnight_marks_nothing_used(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.set(datetime(2026, 3, 3, 0, 2, tzinfo=SHANGHAI))
    claim = await api.claim()
    await api.post("/release", **held(claim))
    clock.advance(minutes=-5)
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is False

"""Claims that fall silent: swept, taken over, or back to life (I4, I6, I7)."""

import asyncio

import pytest
from fastapi import FastAPI

from app.controllers import silence
from app.main import recurring_jobs
from tests.service.conftest import Api, MovableTime, Sweep, by_hand, held


async def test_a_crawl_without_a_sign_of_life_for_31_minutes_becomes_partial(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 2)
    clock.advance(minutes=31)
    assert await sweep() == 1
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["last_completed_page"], keyword["retry_count"]) == ("partial", 2, 0)
    assert keyword["error_message"] == "no sign of life for 30 min"
    assert (await api.claim("next"))["last_completed_page"] == 2


async def test_a_crawl_that_still_reports_is_left_alone(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    claim = await api.claim()
    for page in (1, 2, 3):
        clock.advance(minutes=29)
        await api.page(claim, page)
    clock.advance(minutes=29)
    assert await sweep() == 0
    assert (await api.keyword(claim["id"]))["status"] == "crawling"


async def test_silence_without_a_page_counts_as_a_failed_try(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("poison")
    claim = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 1)
    assert keyword["error_message"] == "no sign of life for 30 min, no page finished"


@pytest.mark.parametrize("swept", [True, False])
async def test_a_poison_keyword_ends_after_three_spiders(
    api: Api, clock: MovableTime, sweep: Sweep, swept: bool
) -> None:
    [keyword_id] = await api.add("poison")
    for number in range(3):
        claim = await api.claim(f"victim {number}")
        assert claim["retry_count"] == number
        clock.advance(minutes=31)
        if swept:
            await sweep()
    assert await api.claim("next") is None
    assert await api.look() == []
    await sweep()
    assert (await api.keyword(keyword_id))["retry_count"] == 3


async def test_a_resumed_claim_that_brings_no_page_counts_as_failed(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    await api.page(await api.claim("first"), 3)
    clock.advance(minutes=31)
    claim = await api.claim("second")
    clock.advance(minutes=31)
    await sweep()
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"], keyword["last_completed_page"]) == ("failed", 1, 3)


async def test_sweeping_again_changes_nothing(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    before = await api.keyword(claim["id"])
    clock.advance(minutes=1)
    assert await sweep() == 0
    assert await api.keyword(claim["id"]) == before


async def test_a_sweep_goes_on_until_nothing_stale_is_left(
    api: Api, clock: MovableTime, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "SWEEP_BATCH", 2)
    await api.add(*"abcde")
    await api.claim(limit=5)
    clock.advance(minutes=31)
    assert await sweep() == 5


@pytest.mark.parametrize("swept", [True, False])
async def test_a_slow_spider_comes_back_to_life_with_its_token(
    api: Api, clock: MovableTime, sweep: Sweep, swept: bool
) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, jobs=10)
    clock.advance(minutes=45)
    if swept:
        await sweep()
    assert (await api.page(claim, 2, jobs=10))["applied"] is True
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["jobs_found"], keyword["error_message"]) == ("crawling", 20, "")
    assert await api.claim("other") is None


@pytest.mark.parametrize("report", ["page", "heartbeat"])
async def test_the_try_counted_for_silence_is_taken_back(
    api: Api, clock: MovableTime, sweep: Sweep, report: str
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=45)
    await sweep()
    if report == "page":
        await api.page(claim, 1)
    else:
        await api.post("/heartbeat", **held(claim))
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"], keyword["error_message"]) == ("crawling", 0, "")


@pytest.mark.parametrize(("status", "tries"), [("failed", 1), ("completed", 0)])
async def test_one_claim_never_uses_up_two_tries(
    api: Api, clock: MovableTime, sweep: Sweep, status: str, tries: int
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=45)
    await sweep()
    assert await api.complete(claim, status) == {"applied": True, "crawl_status": status, "retry_count": tries}


async def test_a_silent_claim_that_somebody_took_over_stays_lost(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    zombie = await api.claim("zombie")
    clock.advance(minutes=31)
    await api.claim("owner")
    assert await api.refused("/heartbeat", **held(zombie)) == (409, "claim-lost")
    assert (await api.keyword(zombie["id"]))["crawler_id"] == "owner"


async def test_the_crawlers_heartbeat_revives_no_claim_of_an_earlier_life(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim("stable")
    await api.page(claim, 1)
    clock.advance(minutes=31)
    await sweep()
    assert (await api.post("/heartbeat", crawler_id="stable"))["renewed"] == 0
    assert (await api.keyword(claim["id"]))["status"] == "partial"


async def test_a_lease_ends_after_thirty_minutes_and_not_before(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    await api.claim()
    clock.advance(minutes=29, seconds=59)
    assert await sweep() == 0
    assert await api.claim("other") is None
    clock.advance(seconds=1)
    assert await sweep() == 1


async def test_the_next_claim_of_the_day_starts_after_the_last_reported_page(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    for page in (2, 3, 7):
        claim = await api.claim()
        await api.page(claim, page)
        clock.advance(minutes=31)
        await sweep()
    assert (await api.claim())["last_completed_page"] == 7


async def test_a_heartbeat_of_the_crawler_saves_a_claim_whose_lease_ran_out(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    await api.claim("slow")
    clock.advance(minutes=45)
    assert (await api.heartbeat(crawler_id="slow"))["renewed"] == 1
    assert await sweep() == 0


async def test_a_claim_that_falls_silent_twice_uses_up_one_try(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    claim = await api.claim()
    for _ in range(3):
        clock.advance(minutes=31)
        await sweep()
        await api.heartbeat(**held(claim))
    clock.advance(minutes=31)
    await sweep()
    assert (await api.keyword(claim["id"]))["retry_count"] == 1


async def test_a_revived_claim_that_brought_a_page_is_partial_when_it_dies(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    await api.page(claim, 1)
    clock.advance(minutes=31)
    await sweep()
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"], keyword["last_completed_page"]) == ("partial", 0, 1)


async def test_a_repeated_page_revives_a_swept_claim_too(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, jobs=15)
    clock.advance(minutes=31)
    await sweep()
    assert (await api.page(claim, 1, jobs=15))["applied"] is False
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["jobs_found"], keyword["crawl_finished_at"]) == ("crawling", 15, None)


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_a_swept_claim_that_brought_a_page_may_still_be_ended(
    api: Api, clock: MovableTime, sweep: Sweep, status: str
) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1)
    clock.advance(minutes=31)
    await sweep()
    assert (await api.complete(claim, status))["applied"] is True
    assert (await api.keyword(claim["id"]))["status"] == status


async def test_a_late_release_takes_back_the_try_counted_for_silence(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    assert await api.release("network", **held(claim)) == 1
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"], keyword["error_message"]) == ("partial", 0, "network")


async def test_a_restart_after_the_sweep_is_not_counted_twice(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    await api.release("restarted", **held(claim))
    assert (await api.keyword(claim["id"]))["retry_count"] == 1


async def test_after_a_revival_the_third_try_is_still_there(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    await api.fail(await api.claim())
    await api.fail(await api.claim())
    third = await api.claim()
    clock.advance(minutes=31)
    await sweep()
    assert await api.claim("other") is None
    await api.page(third, 1)
    await api.release("stopped", **held(third))
    assert (await api.claim("other"))["retry_count"] == 2


async def test_a_swept_claim_that_somebody_took_over_stays_lost(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    zombie = await api.claim("zombie")
    await api.page(zombie, 1)
    clock.advance(minutes=31)
    await sweep()
    owner = await api.claim("owner")
    assert await api.refused("/page-progress", page=2, **held(zombie)) == (409, "claim-lost")
    assert await api.refused("/crawl-complete", status="completed", **held(zombie)) == (409, "claim-lost")
    assert await api.refused("/release", **held(zombie)) == (409, "claim-lost")
    assert (await api.page(owner, 2))["applied"] is True


async def test_four_sweeps_at_once_count_each_claim_once(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    ids = await api.add("a", "b", "c")
    await api.claim(limit=3)
    clock.advance(minutes=31)
    assert sum(await asyncio.gather(sweep(), sweep(), sweep(), sweep())) == 3
    assert [(await api.keyword(each))["retry_count"] for each in ids] == [1, 1, 1]


async def test_a_sweep_touches_neither_the_ended_nor_the_untracked(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    ids = await api.add("completed", "failed", "released", "untracked", "new")
    completed, failed, released = await api.claim(limit=3)
    await api.complete(completed)
    await api.fail(failed)
    await api.release("stopped", **held(released))
    await api.post("/mark-used", keyword_id=ids[3])
    clock.advance(minutes=31)
    before = [await api.keyword(each) for each in ids]
    assert await sweep() == 0
    assert [await api.keyword(each) for each in ids] == before


async def test_a_keyword_set_to_crawling_by_hand_is_freed_by_the_sweep(api: Api, sweep: Sweep) -> None:
    [keyword_id] = await api.add("python")
    await by_hand("UPDATE boss_keyword SET crawl_status = 'crawling', last_requested_date = ?", "2026-03-02")
    assert await api.claim() is None
    assert await sweep() == 1
    assert (await api.claim())["id"] == keyword_id


async def test_living_crawls_do_not_hide_stale_ones_from_the_sweep(
    api: Api, clock: MovableTime, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "SWEEP_BATCH", 1)
    await api.add("living", "stale")
    living, _ = await api.claim(limit=2)
    clock.advance(minutes=31)
    await api.heartbeat(**held(living))
    async with asyncio.timeout(30):
        assert await sweep() == 1


async def test_sweeping_by_the_clock_ends_the_stale_crawls_of_every_source(
    api: Api, app: FastAPI, clock: MovableTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "app")
    for source in ("boss", "qcwy", "zhilian"):
        await api.add("python", source=source)
        await api.claim(source=source)
    _, cleanup = recurring_jobs(app.state.settings, app.state.clock)
    await cleanup.run()
    for _ in range(7):  # the service itself is well
        clock.advance(minutes=5)
        await cleanup.run()
    assert [line for line in caplog.messages if line.startswith("stale")] == [
        "stale crawls ended: boss=1 qcwy=1 zhilian=1"
    ]

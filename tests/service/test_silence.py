"""Claims that fall silent: swept, taken over, or back to life (I4, I6, I7)."""

import pytest

from app.controllers import silence
from tests.service.conftest import Api, MovableTime, Sweep, held


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

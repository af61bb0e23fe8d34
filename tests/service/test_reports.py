"""Page reports and completions: counted once (I2, I5), refused under a lost claim (I3), never lost (I4)."""

from datetime import timedelta
from typing import Any

import pytest

from tests.service.conftest import Api, MovableTime, held, utc

NEEDED: dict[str, dict[str, Any]] = {"/page-progress": {"page": 1}, "/crawl-complete": {"status": "completed"}}


async def test_progress_moves_the_checkpoint_and_counts_jobs(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=10)
    assert await api.page(claim, 1, jobs=15, total_pages=8) == {
        "applied": True, "last_completed_page": 1, "should_stop": False,
        "lease_expires_at": utc(clock.now + timedelta(minutes=30)),
    }  # fmt: skip
    await api.page(claim, 2, jobs=14)
    keyword = await api.keyword(keyword_id)
    assert (keyword["last_completed_page"], keyword["jobs_found"], keyword["total_pages"]) == (2, 29, 8)


async def test_a_page_reported_twice_counts_once(api: Api) -> None:
    [keyword_id] = await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, jobs=15)
    again = await api.page(claim, 1, jobs=15)
    assert (again["applied"], again["last_completed_page"]) == (False, 1)
    assert (await api.keyword(keyword_id))["jobs_found"] == 15


async def test_the_checkpoint_never_moves_back(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 5, jobs=1)
    late = await api.page(claim, 3, jobs=7)
    assert (late["applied"], late["last_completed_page"]) == (False, 5)
    assert (await api.keyword(claim["id"]))["jobs_found"] == 1


async def test_a_repeated_report_is_a_sign_of_life(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1)
    clock.advance(minutes=20)
    assert (await api.page(claim, 1))["lease_expires_at"] == utc(clock.now + timedelta(minutes=30))


@pytest.mark.parametrize("call", ["/page-progress", "/crawl-complete", "/heartbeat", "/release"])
@pytest.mark.parametrize("wrong", [{"claim_token": "wrong"}, {"crawler_id": "somebody-else"}])
async def test_a_report_by_somebody_else_changes_nothing(api: Api, call: str, wrong: dict[str, str]) -> None:
    await api.add("python")
    claim = await api.claim()
    before = await api.keyword(claim["id"])
    assert await api.refused(call, **{**held(claim), **NEEDED.get(call, {}), **wrong}) == (409, "claim-lost")
    assert await api.keyword(claim["id"]) == before


async def test_the_token_of_an_earlier_claim_is_lost(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    first = await api.claim("first")
    await api.page(first, 1)
    clock.advance(minutes=31)
    second = await api.claim("second")
    assert await api.refused("/page-progress", page=2, **held(first)) == (409, "claim-lost")
    assert (await api.page(second, 2))["applied"] is True


@pytest.mark.parametrize("call", ["/page-progress", "/crawl-complete", "/heartbeat", "/mark-used", "/release"])
async def test_an_unknown_keyword_is_404(api: Api, call: str) -> None:
    assert await api.refused(call, keyword_id=999_999_999, claim_token="x", **NEEDED.get(call, {})) == (
        404,
        "keyword-not-found",
    )


async def test_a_keyword_that_nobody_crawls_takes_no_report(api: Api) -> None:
    [keyword_id] = await api.add("python")
    assert await api.refused("/page-progress", keyword_id=keyword_id, page=1) == (409, "wrong-state")
    assert await api.refused("/crawl-complete", keyword_id=keyword_id, status="failed") == (409, "wrong-state")


async def test_a_completed_keyword_rests_for_the_day(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    assert await api.complete(claim) == {"applied": True, "crawl_status": "completed", "retry_count": 0}
    clock.advance(hours=13)
    assert await api.look() == []


async def test_completion_reported_again_changes_nothing(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.complete(claim)
    before = await api.keyword(claim["id"])
    clock.advance(minutes=1)
    assert await api.complete(claim) == {"applied": False, "crawl_status": "completed", "retry_count": 0}
    assert await api.keyword(claim["id"]) == before


async def test_a_failure_uses_up_one_try_however_often_it_is_reported(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.complete(claim, "failed", "no such city")
    again = await api.complete(claim, "failed", "no such city")
    assert again == {"applied": False, "crawl_status": "failed", "retry_count": 1}
    assert (await api.keyword(claim["id"]))["error_message"] == "no such city"


async def test_after_three_failures_the_keyword_rests_until_tomorrow(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    for tries in (1, 2, 3):
        claim = await api.claim()
        assert claim["retry_count"] == tries - 1
        assert (await api.complete(claim, "failed"))["retry_count"] == tries
    assert await api.claim() is None
    clock.advance(days=1)
    claim = await api.claim()
    assert (claim["retry_count"], claim["crawl_status"]) == (0, "idle")


async def test_a_retry_goes_on_at_the_checkpoint(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 2, jobs=30, total_pages=5)
    await api.complete(claim, "failed")
    retry = await api.claim()
    assert (retry["last_completed_page"], retry["total_pages"], retry["crawl_status"]) == (2, 5, "failed")


async def test_an_ended_claim_takes_another_end_or_page_no_more(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1)
    await api.complete(claim)
    assert await api.refused("/crawl-complete", status="failed", **held(claim)) == (409, "wrong-state")
    assert await api.refused("/page-progress", page=2, **held(claim)) == (409, "wrong-state")
    assert await api.refused("/heartbeat", **held(claim)) == (409, "wrong-state")


async def test_a_page_delivered_twice_is_fine_after_the_end_too(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, jobs=15)
    await api.complete(claim)
    late = await api.page(claim, 1, jobs=15)
    assert (late["applied"], late["lease_expires_at"]) == (False, None)
    assert (await api.keyword(claim["id"]))["status"] == "completed"


async def test_heartbeats_keep_a_claim_alive(api: Api, clock: MovableTime) -> None:
    await api.add("python", "java")
    claims = await api.claim("spider", limit=2)
    for _ in range(4):
        clock.advance(minutes=20)
        answer = await api.post("/heartbeat", crawler_id="spider")
        assert (answer["renewed"], answer["lease_expires_at"]) == (2, utc(clock.now + timedelta(minutes=30)))
    assert (await api.post("/heartbeat", **held(claims[0])))["renewed"] == 1
    assert await api.claim("other") is None


async def test_a_heartbeat_at_the_same_instant_still_counts(api: Api) -> None:
    await api.add("python")
    await api.claim("spider")
    assert (await api.post("/heartbeat", crawler_id="spider"))["renewed"] == 1


async def test_a_heartbeat_without_claims_renews_nothing(api: Api) -> None:
    assert await api.post("/heartbeat", crawler_id="nobody") == {
        "renewed": 0, "lease_expires_at": None, "should_stop": False,
    }  # fmt: skip

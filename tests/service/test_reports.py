"""Page reports and completions: counted once (I2, I5), refused under a lost claim (I3), never lost (I4)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from app.schemas.fields import MAX_JOBS, MAX_PAGE
from tests.service.conftest import Api, MovableTime, by_hand, held, utc

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


async def test_a_completion_may_say_what_was_odd_about_its_end(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.complete(claim, message="repeats: page 2 brought nothing new")
    assert (await api.keyword(claim["id"]))["error_message"] == "repeats: page 2 brought nothing new"
    assert (await api.stats())["crawl_status"]["failed"] == 0


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


async def test_pages_may_be_reported_with_gaps(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, jobs=10)
    assert (await api.page(claim, 4, jobs=30))["last_completed_page"] == 4
    keyword = await api.keyword(claim["id"])
    assert (keyword["last_completed_page"], keyword["jobs_found"]) == (4, 40)


async def test_the_board_may_change_its_mind_about_the_number_of_pages(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1, total_pages=9)
    await api.page(claim, 2)
    assert (await api.keyword(claim["id"]))["total_pages"] == 9
    await api.page(claim, 3, total_pages=4)
    assert (await api.keyword(claim["id"]))["total_pages"] == 4


async def test_reports_leave_the_start_of_the_crawl_and_its_end_is_kept(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    started = utc(clock.now)
    clock.advance(minutes=5)
    await api.page(claim, 1)
    await api.complete(claim)
    keyword = await api.keyword(claim["id"])
    assert (keyword["crawl_started_at"], keyword["crawl_finished_at"]) == (started, utc(clock.now))
    assert (keyword["updated_at"], keyword["lease_expires_at"]) == (utc(clock.now), None)


async def test_a_page_reported_eight_times_at_once_counts_once(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    answers = await asyncio.gather(*(api.page(claim, 1, jobs=15) for _ in range(8)))
    assert sorted(answer["applied"] for answer in answers) == [False] * 7 + [True]
    assert (await api.keyword(claim["id"]))["jobs_found"] == 15


async def test_a_failure_reported_eight_times_at_once_uses_up_one_try(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    answers = await asyncio.gather(*(api.fail(claim) for _ in range(8)))
    assert sorted(answer["applied"] for answer in answers) == [False] * 7 + [True]
    assert {answer["retry_count"] for answer in answers} == {1}


async def test_a_failure_repeated_while_another_spider_retries_is_lost_and_uses_up_nothing(api: Api) -> None:
    await api.add("python")
    first = await api.claim("first")
    await api.fail(first)
    second = await api.claim("second")
    assert await api.refused("/crawl-complete", status="failed", **held(first)) == (409, "claim-lost")
    assert (await api.fail(second))["retry_count"] == 2


async def test_a_page_clears_the_message_of_the_failed_try_before(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim(), "timeout")
    retry = await api.claim()
    assert (await api.keyword(retry["id"]))["error_message"] == "timeout"
    await api.page(retry, 1)
    assert (await api.keyword(retry["id"]))["error_message"] == ""


async def test_a_completion_clears_the_message_and_keeps_the_count_of_tries(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim(), "timeout")
    retry = await api.claim()
    assert (await api.complete(retry))["retry_count"] == 1
    assert (await api.keyword(retry["id"]))["error_message"] == ""


async def test_a_failed_claim_does_not_become_completed_by_a_late_report(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.fail(claim)
    assert await api.refused("/crawl-complete", status="completed", **held(claim)) == (409, "wrong-state")
    assert (await api.keyword(claim["id"]))["status"] == "failed"


async def test_a_crawler_may_report_by_its_id_alone(api: Api) -> None:
    await api.add("python")
    claim = await api.claim("spider")
    assert (await api.post("/page-progress", keyword_id=claim["id"], page=1, crawler_id="spider"))["applied"] is True
    assert (await api.heartbeat(keyword_id=claim["id"], crawler_id="spider"))["renewed"] == 1
    ended = await api.post("/crawl-complete", keyword_id=claim["id"], status="completed", crawler_id="spider")
    assert ended["applied"] is True


async def test_crawlers_are_told_apart_by_case(api: Api) -> None:
    await api.add("python")
    claim = await api.claim("Spider")
    wrong = {"keyword_id": claim["id"], "page": 1, "crawler_id": "spider"}
    assert await api.refused("/page-progress", **wrong) == (409, "claim-lost")
    assert (await api.heartbeat(crawler_id="spider"))["renewed"] == 0


async def test_a_crawler_is_the_same_with_spaces_around_its_id(api: Api) -> None:
    await api.add("python")
    claim = await api.claim(" spider ")
    assert (await api.keyword(claim["id"]))["crawler_id"] == "spider"
    assert (await api.page(claim, 1, crawler_id=" spider "))["applied"] is True
    assert (await api.heartbeat(crawler_id="spider"))["renewed"] == 1


async def test_tokens_are_told_apart_by_case(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    wrong = {**claim, "claim_token": claim["claim_token"].swapcase()}
    assert await api.refused("/page-progress", page=1, **held(wrong)) == (409, "claim-lost")


async def test_a_keyword_of_another_source_is_unknown(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    assert await api.refused("/page-progress", source="zhilian", page=1, **held(claim)) == (404, "keyword-not-found")


async def test_the_jobs_of_the_hugest_crawl_that_is_accepted_can_be_counted(api: Api) -> None:
    [keyword_id] = await api.add("python")
    claim = await api.claim()
    await by_hand("UPDATE boss_keyword SET jobs_found = ? WHERE id = ?", MAX_JOBS * (MAX_PAGE - 1), keyword_id)
    await api.page(claim, MAX_PAGE, jobs=MAX_JOBS)
    assert (await api.keyword(keyword_id))["jobs_found"] == MAX_JOBS * MAX_PAGE

"""Spiders of the first design: no crawler id, no token, no Content-Type, `mark-used` and nothing more."""

import json
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.service.conftest import MORNING, SHANGHAI, Api, MovableTime, Sweep, jobs, utc


async def send(api: Api, path: str, headers: dict[str, str], **body: Any) -> httpx.Response:
    """A POST whose headers are these alone."""
    content = json.dumps({"source": "boss", **body}).encode()
    return await api.raw.post(f"/api/v1/keyword{path}", content=content, headers=headers)


# --- claims without a crawler id --------------------------------------------------------------------------------------


async def test_a_claim_without_a_crawler_id_has_no_lease_and_counts_as_untracked(api: Api) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    assert (claim["lease_expires_at"], claim["crawl_status"]) == (None, "idle")
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["crawler_id"]) == ("untracked", None)
    stats = await api.stats()
    assert (stats["used"], stats["unused"], stats["crawl_status"]["untracked"]) == (1, 0, 1)


async def test_an_untracked_keyword_is_not_handed_out_again_that_day(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    await api.claim(crawler_id=None)
    clock.advance(hours=13)
    assert await sweep() == 0
    assert await api.claim() is None
    clock.advance(hours=1)
    assert (await api.claim())["crawl_status"] == "idle"


async def test_an_untracked_spider_that_reports_is_treated_like_the_others(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    await api.post("/page-progress", keyword_id=claim["id"], page=1, jobs_found=15)
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["last_completed_page"], keyword["jobs_found"]) == ("crawling", 1, 15)
    assert (keyword["crawl_started_at"], keyword["crawler_id"]) == (utc(MORNING), None)
    clock.advance(minutes=31)
    assert await sweep() == 1
    assert (await api.claim())["last_completed_page"] == 1


async def test_an_untracked_spider_may_report_with_its_token(api: Api) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    assert (await api.page(claim, 1))["applied"] is True
    assert (await api.complete(claim))["applied"] is True


async def test_an_untracked_spider_may_say_that_it_lives(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    clock.advance(hours=3)
    assert (await api.heartbeat(keyword_id=claim["id"], claim_token=claim["claim_token"]))["renewed"] == 1
    assert (await api.keyword(claim["id"]))["status"] == "crawling"


async def test_an_untracked_keyword_may_be_released(api: Api) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    assert await api.release("stopped", keyword_id=claim["id"], claim_token=claim["claim_token"]) == 1
    assert (await api.claim())["crawl_status"] == "partial"


async def test_an_untracked_claim_of_a_partial_keyword_goes_on_at_its_page(api: Api) -> None:
    await api.add("python")
    await api.page(await api.claim(), 2)
    await api.release("stopped", crawler_id="spider")
    assert (await api.claim(crawler_id=None))["last_completed_page"] == 2
    assert await api.look() == []


# --- reports without a token ------------------------------------------------------------------------------------------


async def test_the_whole_of_the_original_contract_works(api: Api) -> None:
    [keyword_id] = await api.add("python")
    await api.post("/mark-used", keyword_id=keyword_id)
    for page in (1, 2, 3):
        await api.post("/page-progress", keyword_id=keyword_id, page=page, total_pages=3, jobs_found=15)
    answer = await api.post("/crawl-complete", keyword_id=keyword_id, status="completed")
    assert answer == {"applied": True, "crawl_status": "completed", "retry_count": 0}
    keyword = await api.keyword(keyword_id)
    assert (keyword["status"], keyword["jobs_found"], keyword["total_pages"]) == ("completed", 45, 3)


async def test_a_report_without_a_token_is_matched_by_the_keyword_alone(api: Api) -> None:
    await api.add("python")
    claim = await api.claim("spider")
    assert (await api.post("/page-progress", keyword_id=claim["id"], page=1))["applied"] is True
    failed = await api.post("/crawl-complete", keyword_id=claim["id"], status="failed", error_message="x")
    assert failed == {"applied": True, "crawl_status": "failed", "retry_count": 1}


async def test_a_report_without_a_token_repeated_changes_nothing(api: Api) -> None:
    [keyword_id] = await api.add("python")
    await api.claim(crawler_id=None)
    for applied in (True, False):
        page = await api.post("/page-progress", keyword_id=keyword_id, page=1, jobs_found=15)
        assert page["applied"] is applied
    for applied in (True, False):
        ended = await api.post("/crawl-complete", keyword_id=keyword_id, status="failed")
        assert (ended["applied"], ended["retry_count"]) == (applied, 1)
    assert (await api.keyword(keyword_id))["jobs_found"] == 15


async def test_a_failure_without_a_token_uses_up_one_try_a_claim(api: Api) -> None:
    [keyword_id] = await api.add("python")
    for tries in (1, 2, 3):
        await api.claim(crawler_id=None)
        ended = await api.post("/crawl-complete", keyword_id=keyword_id, status="failed")
        assert ended["retry_count"] == tries
    assert await api.claim(crawler_id=None) is None


async def test_a_report_without_a_token_does_not_revive_a_swept_claim(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1)
    clock.advance(minutes=31)
    await sweep()
    assert await api.refused("/page-progress", keyword_id=claim["id"], page=2) == (409, "wrong-state")
    assert (await api.keyword(claim["id"]))["status"] == "partial"


async def test_a_page_without_a_token_shortly_after_midnight_counts_for_the_day_of_its_claim(
    api: Api, clock: MovableTime
) -> None:
    [keyword_id] = await api.add("python")
    clock.advance(hours=13, minutes=50)
    await api.claim(crawler_id=None)
    clock.advance(minutes=20)
    assert (await api.post("/page-progress", keyword_id=keyword_id, page=1))["applied"] is True
    assert (await api.keyword(keyword_id))["last_requested_date"] == "2026-03-02"


async def test_a_report_without_a_token_of_something_long_past_is_refused(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    await api.claim(crawler_id=None)
    clock.advance(days=1)
    assert await api.refused("/page-progress", keyword_id=keyword_id, page=1) == (409, "wrong-state")
    assert await api.refused("/crawl-complete", keyword_id=keyword_id, status="completed") == (409, "wrong-state")


async def test_yesterdays_completion_repeated_without_a_token_is_not_taken_for_todays(
    api: Api, clock: MovableTime
) -> None:
    [keyword_id] = await api.add("python")
    await api.claim(crawler_id=None)
    await api.post("/page-progress", keyword_id=keyword_id, page=1)
    await api.post("/crawl-complete", keyword_id=keyword_id, status="completed")
    clock.advance(days=1)
    assert await api.refused("/crawl-complete", keyword_id=keyword_id, status="completed") == (409, "wrong-state")
    assert await api.refused("/page-progress", keyword_id=keyword_id, page=1) == (409, "wrong-state")


# --- mark-used --------------------------------------------------------------------------------------------------------


async def test_mark_used_takes_a_new_keyword_for_the_day(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    answer = await api.post("/mark-used", keyword_id=keyword_id)
    assert answer == {"applied": True, "last_requested_date": "2026-03-02"}
    assert (await api.keyword(keyword_id))["status"] == "untracked"
    assert await api.look() == []
    clock.advance(days=1)
    assert len(await api.look()) == 1


async def test_mark_used_repeated_changes_nothing(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    await api.post("/mark-used", keyword_id=keyword_id)
    before = await api.keyword(keyword_id)
    clock.advance(minutes=1)
    answer = await api.post("/mark-used", keyword_id=keyword_id)
    assert answer == {"applied": False, "last_requested_date": "2026-03-02"}
    assert await api.keyword(keyword_id) == before


async def test_mark_used_after_an_untracked_claim_changes_nothing(api: Api) -> None:
    await api.add("python")
    claim = await api.claim(crawler_id=None)
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is False
    assert (await api.page(claim, 1))["applied"] is True


async def test_mark_used_does_not_rob_a_living_crawl(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is False
    assert (await api.page(claim, 1))["applied"] is True


async def test_mark_used_does_not_rob_a_crawl_that_lives_past_midnight(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.advance(hours=13, minutes=50)
    claim = await api.claim()
    clock.advance(minutes=20)
    answer = await api.post("/mark-used", keyword_id=claim["id"])
    assert answer == {"applied": False, "last_requested_date": "2026-03-02"}
    assert (await api.keyword(claim["id"]))["status"] == "crawling"


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_mark_used_leaves_a_keyword_alone_whose_day_is_over(api: Api, status: str) -> None:
    await api.add("python")
    for _ in range(3):
        claim = await api.claim()
        await api.complete(claim, status)
        if status == "completed":
            break
    before = await api.keyword(claim["id"])
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is False
    assert await api.keyword(claim["id"]) == before


async def test_mark_used_takes_a_failed_keyword_that_has_tries_left(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.fail(claim)
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is True
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"]) == ("untracked", 1)


async def test_mark_used_takes_a_partial_keyword_and_keeps_its_page(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 2)
    await api.release("stopped", crawler_id="spider")
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is True
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["last_completed_page"]) == ("untracked", 2)


async def test_mark_used_takes_a_stale_crawl(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    assert (await api.post("/mark-used", keyword_id=claim["id"]))["applied"] is True
    assert await api.refused("/page-progress", keyword_id=claim["id"], page=1, claim_token=claim["claim_token"]) == (
        409, "claim-lost",
    )  # fmt: skip


async def test_the_look_and_mark_of_old_spiders_goes_through_the_list(api: Api) -> None:
    await api.add("a", "b")
    for job in ("a", "b"):
        [found] = await api.look(limit=1)
        assert jobs([found]) == [job]
        await api.post("/mark-used", keyword_id=found["id"])
    assert await api.look(limit=1) == []


# --- bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", [None, "application/x-www-form-urlencoded", "text/plain", "nonsense"])
async def test_json_is_understood_whatever_its_content_type(api: Api, content_type: str | None) -> None:
    [keyword_id] = await api.add("python")
    headers = {"Content-Type": content_type} if content_type else {}
    used = await send(api, "/mark-used", headers, keyword_id=keyword_id)
    page = await send(api, "/page-progress", headers, keyword_id=keyword_id, page=1)
    ended = await send(api, "/crawl-complete", headers, keyword_id=keyword_id, status="failed", error_message="原因")
    assert [answer.status_code for answer in (used, page, ended)] == [200, 200, 200]
    assert (await api.keyword(keyword_id))["error_message"] == "原因"


async def test_numbers_as_text_and_fields_that_nobody_knows_are_tolerated(api: Api) -> None:
    [keyword_id] = await api.add("python")
    await api.post("/mark-used", keyword_id=str(keyword_id), city="北京", version=7)
    answer = await api.post("/page-progress", keyword_id=str(keyword_id), page="2", jobs_found="15", extra={"a": [1]})
    assert answer["last_completed_page"] == 2


async def test_optional_fields_may_be_null(api: Api) -> None:
    [keyword_id] = await api.add("python")
    await api.claim(crawler_id=None)
    none = {"claim_token": None, "crawler_id": None}
    await api.post("/page-progress", keyword_id=keyword_id, page=1, total_pages=None, **none)
    await api.post("/crawl-complete", keyword_id=keyword_id, status="failed", error_message=None, **none)
    assert (await api.keyword(keyword_id))["error_message"] == ""


async def test_a_page_repeated_without_a_token_after_midnight_changes_nothing(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    clock.set(datetime(2026, 3, 2, 23, 50, tzinfo=SHANGHAI))
    await api.page(await api.claim(), 1, jobs=15)
    clock.advance(minutes=20)
    again = await api.post("/page-progress", keyword_id=keyword_id, page=1, jobs_found=15)
    assert (again["applied"], again["last_completed_page"]) == (False, 1)
    assert (await api.keyword(keyword_id))["jobs_found"] == 15

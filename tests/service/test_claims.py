"""Who gets which keyword (I1), and in which order."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.controllers import keyword as controller
from app.controllers.claims import claim_rows
from app.controllers.keyword import Reporter
from app.controllers.silence import release_stale
from app.core import database
from app.core.enums import Outcome, ReleaseReason, Source
from app.core.settings import CrawlRules
from app.models import keyword_sql
from app.models.keyword_row import KeywordRow
from tests.service.conftest import MORNING, Api, MovableTime, Now, by_hand, history, jobs, utc


async def rows() -> list[tuple[KeywordRow, str]]:
    """All keywords of Boss as a claim reads them, each for the second crawler."""
    read = await database.fetch(f"SELECT {keyword_sql.COLUMNS} FROM boss_keyword")
    return [(KeywordRow.read(row), "second") for row in read]


async def test_a_keyword_is_claimed_once_and_not_again(api: Api) -> None:
    await api.add("python")
    assert (await api.claim("first"))["job"] == "python"
    assert await api.claim("second") is None


async def test_a_claim_tells_all_that_a_spider_needs(api: Api) -> None:
    [keyword_id] = await api.add("python", city="上海")
    claim = await api.claim()
    token = claim.pop("claim_token")
    assert len(token) >= 20
    assert claim == {
        "id": keyword_id,
        "city": "上海",
        "job": "python",
        "last_completed_page": 0,
        "total_pages": None,
        "crawl_status": "idle",
        "retry_count": 0,
        "lease_expires_at": utc(MORNING + timedelta(minutes=30)),
    }


async def test_a_claimed_keyword_is_shown_as_crawling_with_its_crawler(api: Api) -> None:
    [keyword_id] = await api.add("python")
    await api.claim("spider-7")
    keyword = await api.keyword(keyword_id)
    assert (keyword["status"], keyword["crawler_id"]) == ("crawling", "spider-7")
    assert keyword["crawl_started_at"] == keyword["last_requested_at"] == utc(MORNING)
    assert keyword["last_requested_date"] == "2026-03-02"


async def test_a_look_shows_what_a_claim_would_get_without_its_token(api: Api) -> None:
    await api.add("python")
    [look] = await api.look()
    claim = await api.claim()
    assert look == {**claim, "claim_token": None, "lease_expires_at": None}


async def test_a_look_changes_nothing(api: Api, clock: MovableTime) -> None:
    [keyword_id] = await api.add("python")
    before = await api.keyword(keyword_id)
    clock.advance(minutes=1)
    await api.get("/available", source="boss", limit=100, crawler_id="spider")
    assert await api.keyword(keyword_id) == before


async def test_a_claim_takes_as_many_as_asked_for(api: Api) -> None:
    await api.add("a", "b", "c", "d")
    assert jobs(await api.claim(limit=3)) == ["a", "b", "c"]
    assert jobs(await api.claim(limit=3)) == ["d"]


async def test_a_claim_takes_a_hundred_at_most(api: Api) -> None:
    await api.post("/bulk", keywords=[{"city": "北京", "job": f"job {number}"} for number in range(101)])
    claims = await api.claim(limit=100)
    assert len({claim["id"] for claim in claims}) == 100
    assert len(await api.look()) == 1


async def test_each_claim_has_a_token_of_its_own(api: Api) -> None:
    await api.add("a", "b", "c")
    claims = await api.claim(limit=3)
    assert len({claim["claim_token"] for claim in claims}) == 3


async def test_one_source_does_not_hand_out_the_keywords_of_another(api: Api) -> None:
    await api.add("python", source="qcwy")
    assert await api.claim(source="boss") is None
    assert (await api.claim(source="qcwy"))["job"] == "python"


async def test_sixteen_claimants_at_once_get_different_keywords(api: Api) -> None:
    await api.add(*(f"job {number}" for number in range(16)))
    claims = await asyncio.gather(*(api.claim(f"spider-{number}") for number in range(16)))
    assert len({claim["id"] for claim in claims}) == 16


async def test_sixteen_claimants_at_once_do_not_get_more_than_there_are(api: Api) -> None:
    await api.add("a", "b", "c")
    claims = await asyncio.gather(*(api.claim(f"spider-{number}") for number in range(16)))
    assert sorted(claim["job"] for claim in claims if claim) == ["a", "b", "c"]


async def test_sixteen_claimants_of_many_at_once_share_without_doubles(api: Api) -> None:
    await api.add(*(f"job {number}" for number in range(40)))
    rounds = await asyncio.gather(*(api.claim(f"spider-{number}", limit=5) for number in range(16)))
    ids = [claim["id"] for claims in rounds for claim in claims]
    assert len(ids) == len(set(ids)) == 40


async def test_a_keyword_that_changed_since_it_was_read_is_not_claimed(
    api: Api, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    wanted = await rows()
    await api.claim("first")
    assert await claim_rows(Source.BOSS, wanted, moment(), rules) == {}


async def test_a_keyword_of_an_earlier_day_that_was_claimed_since_it_was_read_is_not_claimed_again(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("a", "b")
    for claim in await api.claim("yesterday", limit=2):
        await api.complete(claim)
    clock.advance(days=1)
    wanted = await rows()
    taken = await api.claim("first")
    claims = await claim_rows(Source.BOSS, wanted, moment(), rules)
    assert [claim.job for claim in claims.values()] == ["b"]
    assert (await api.keyword(taken["id"]))["crawler_id"] == "first"
    assert [(day["job"], day["crawler_id"]) for day in await history()] == [("a", "yesterday"), ("b", "yesterday")]


@pytest.mark.parametrize("column", ["last_completed_page", "jobs_found", "retry_count"])
async def test_a_keyword_that_an_operator_changed_since_it_was_read_is_not_claimed(
    api: Api, moment: Now, rules: CrawlRules, column: str
) -> None:
    await api.add("python")
    await api.page(await api.claim(), 5)
    await api.release("stopped", crawler_id="spider")
    wanted = await rows()
    await by_hand(f"UPDATE boss_keyword SET {column} = 1")
    assert await claim_rows(Source.BOSS, wanted, moment(), rules) == {}


async def test_a_keyword_that_was_claimed_and_given_back_since_it_was_read_is_not_claimed(
    api: Api, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    for _ in range(2):
        wanted = await rows()
        await api.claim()
        await api.release("stopped", crawler_id="spider")
    assert await claim_rows(Source.BOSS, wanted, moment(), rules) == {}


async def test_a_stale_crawl_that_was_completed_since_it_was_read_is_not_claimed(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    wanted = await rows()
    await api.complete(claim)
    assert await claim_rows(Source.BOSS, wanted, moment(), rules) == {}


async def test_a_crawl_that_came_back_to_life_since_it_was_read_is_not_claimed(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    claim = await api.claim()
    clock.advance(minutes=31)
    wanted = await rows()
    await api.heartbeat(keyword_id=claim["id"], claim_token=claim["claim_token"])
    assert await claim_rows(Source.BOSS, wanted, moment(), rules) == {}


# --- the order --------------------------------------------------------------------------------------------------------


async def test_unfinished_come_first_then_failed_then_new(api: Api) -> None:
    await api.add("failed", "partial", "new")
    failed, partial = await api.claim(limit=2)
    await api.fail(failed)
    await api.page(partial, 1)
    await api.release("stopped", keyword_id=partial["id"], claim_token=partial["claim_token"])
    claims = await api.claim(limit=3)
    assert jobs(claims) == ["partial", "failed", "new"]
    assert [claim["crawl_status"] for claim in claims] == ["partial", "failed", "idle"]


async def test_of_the_unfinished_the_longest_waiting_comes_first(api: Api, clock: MovableTime) -> None:
    await api.add("a", "b", "c")
    for claim in reversed(await api.claim(limit=3)):
        clock.advance(minutes=1)
        await api.release("network", keyword_id=claim["id"], claim_token=claim["claim_token"])
    assert jobs(await api.look()) == ["c", "b", "a"]


async def test_of_the_failed_the_longest_waiting_comes_first(api: Api, clock: MovableTime) -> None:
    await api.add("a", "b", "c")
    for claim in reversed(await api.claim(limit=3)):
        clock.advance(minutes=1)
        await api.fail(claim)
    assert jobs(await api.look()) == ["c", "b", "a"]


async def test_those_that_wait_since_the_same_moment_come_by_id(api: Api) -> None:
    await api.add("c", "b", "a")
    for claim in reversed(await api.claim(limit=3)):
        await api.fail(claim)
    assert jobs(await api.look()) == ["c", "b", "a"]


async def test_of_the_new_the_never_requested_come_first_then_the_oldest_day(api: Api, clock: MovableTime) -> None:
    await api.add("yesterday", "the day before", "never")
    ids = {item["job"]: item["id"] for item in await api.look()}
    await api.post("/mark-used", keyword_id=ids["the day before"])
    clock.advance(days=1)
    await api.post("/mark-used", keyword_id=ids["yesterday"])
    clock.advance(days=1)
    assert jobs(await api.look()) == ["never", "the day before", "yesterday"]


async def test_a_stale_crawl_is_handed_out_before_new_keywords_although_no_sweep_ran(
    api: Api, clock: MovableTime
) -> None:
    await api.add("stale", "new")
    await api.page(await api.claim(), 1)
    clock.advance(minutes=30)
    claim = await api.claim("second")
    assert (claim["job"], claim["crawl_status"], claim["last_completed_page"]) == ("stale", "partial", 1)


async def test_stale_and_unfinished_stand_in_one_queue(api: Api, clock: MovableTime) -> None:
    await api.add("released late", "stale", "released early")
    late, stale, early = await api.claim(limit=3)
    await api.page(stale, 1)
    await api.release("stopped", keyword_id=early["id"], claim_token=early["claim_token"])
    clock.advance(minutes=31)
    await api.release("stopped", keyword_id=late["id"], claim_token=late["claim_token"])
    assert jobs(await api.look()) == ["released early", "stale", "released late"]


async def test_a_stale_crawl_without_a_page_waits_with_the_unfinished_and_counts_as_failed(
    api: Api, clock: MovableTime
) -> None:
    await api.add("stale", "failed")
    await api.claim()
    await api.fail(await api.claim())
    clock.advance(minutes=30)
    first, second = await api.look()
    assert (first["job"], first["crawl_status"], first["retry_count"]) == ("stale", "failed", 1)
    assert second["job"] == "failed"


async def test_a_keyword_set_to_partial_by_hand_comes_first_and_goes_on_at_its_page(api: Api) -> None:
    ids = await api.add("new", "by hand")
    await by_hand(
        "UPDATE boss_keyword SET crawl_status = 'partial', last_completed_page = 2, last_requested_date = ? "
        "WHERE id = ?", "2026-03-02", ids[1],
    )  # fmt: skip
    claim = await api.claim()
    assert (claim["job"], claim["crawl_status"], claim["last_completed_page"]) == ("by hand", "partial", 2)


async def test_a_keyword_set_to_partial_by_hand_without_a_date_comes_first_too(api: Api) -> None:
    ids = await api.add("new", "by hand")
    await by_hand("UPDATE boss_keyword SET crawl_status = 'partial', last_completed_page = 2 WHERE id = ?", ids[1])
    for status, job in (("partial", "by hand"), ("idle", "new")):
        assert jobs((await api.get("", source="boss", status=status))["items"]) == [job]
    assert jobs(await api.look()) == ["by hand", "new"]
    claim = await api.claim()
    assert (claim["job"], claim["last_completed_page"]) == ("by hand", 2)


async def test_a_living_crawl_whose_date_was_removed_by_hand_is_not_handed_out(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.claim()
    await by_hand("UPDATE boss_keyword SET last_requested_date = NULL")
    assert await api.look() == []
    assert await api.claim("other") is None
    clock.advance(minutes=31)
    assert (await api.claim("other"))["crawl_status"] == "idle"


# --- failed ones ------------------------------------------------------------------------------------------------------


async def test_a_failed_keyword_is_claimable_at_once_by_default(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim())
    assert (await api.claim())["retry_count"] == 1


async def test_with_a_back_off_a_failed_keyword_waits_that_long(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    claim = await api.claim()
    patient = replace(rules, retry_backoff=timedelta(minutes=5))
    reporter = Reporter(claim["claim_token"])
    await controller.report_crawl_complete(Source.BOSS, claim["id"], Outcome.FAILED, reporter, moment(), patient)
    clock.advance(minutes=4, seconds=59)
    assert await api.claim() is None
    clock.advance(seconds=1)
    assert (await api.claim())["crawl_status"] == "failed"


async def test_after_a_silent_claim_without_a_page_the_back_off_holds_too(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await api.claim()
    patient = replace(rules, retry_backoff=timedelta(minutes=5))
    clock.advance(minutes=31)
    await controller.release(Source.BOSS, Reporter(crawler_id="spider"), ReleaseReason.RESTARTED, moment(), patient)
    assert await api.claim() is None
    clock.advance(minutes=5)
    assert (await api.claim())["retry_count"] == 1


async def test_after_the_sweep_of_a_silent_claim_the_back_off_holds_too(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await api.claim()
    patient = replace(rules, retry_backoff=timedelta(minutes=5))
    clock.advance(minutes=31)
    assert await release_stale(Source.BOSS, moment(), patient) == 1
    assert await api.claim() is None
    clock.advance(minutes=5)
    assert (await api.claim())["retry_count"] == 1


async def test_the_number_of_tries_is_a_setting(api: Api, moment: Now, rules: CrawlRules) -> None:
    await api.add("python")
    await api.fail(await api.claim())
    once, twice = replace(rules, max_retries=1), replace(rules, max_retries=2)
    assert (await controller.get_available(Source.BOSS, moment(), once, reserve=True)).claims == []
    assert len((await controller.get_available(Source.BOSS, moment(), twice, reserve=True)).claims) == 1


async def test_a_keyword_that_used_up_its_tries_rests_although_the_setting_is_raised(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    for _ in range(3):
        await api.fail(await api.claim())
    more = replace(rules, max_retries=5)
    assert (await controller.get_available(Source.BOSS, moment(), more)).claims == []
    clock.advance(days=1)
    assert len((await controller.get_available(Source.BOSS, moment(), more)).claims) == 1


async def test_a_stale_crawl_that_brought_a_page_in_its_last_try_is_handed_out(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    for _ in range(2):
        await api.fail(await api.claim())
    await api.page(await api.claim(), 1)
    clock.advance(minutes=31)
    claim = await api.claim("other")
    assert (claim["crawl_status"], claim["last_completed_page"], claim["retry_count"]) == ("partial", 1, 2)


async def test_with_a_single_try_a_silent_claim_without_a_page_is_not_handed_out_again(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await api.claim()
    clock.advance(minutes=31)
    assert (await controller.get_available(Source.BOSS, moment(), replace(rules, max_retries=1))).claims == []


# --- nothing to hand out ----------------------------------------------------------------------------------------------


async def test_an_empty_answer_tells_when_to_ask_again(api: Api) -> None:
    query: dict[str, str] = {"source": "boss", "reserve": "true", "crawler_id": "spider"}
    answer = await api.raw.get("/api/v1/keyword/available", params=query)
    assert (answer.status_code, answer.json()) == (200, {"data": []})
    assert answer.headers["retry-after"] == "60"


async def test_an_answer_with_keywords_does_not(api: Api) -> None:
    await api.add("python")
    answer = await api.raw.get("/api/v1/keyword/available", params={"source": "boss"})
    assert "retry-after" not in answer.headers

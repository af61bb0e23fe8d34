"""Giving a claim back: the checkpoint stays, and only a restart without a page costs a try."""

import pytest

from tests.service.conftest import Api, MovableTime, held


@pytest.mark.parametrize("reason", ["stopped", "blocked", "login", "network", "other"])
async def test_a_released_keyword_is_free_at_once_at_its_checkpoint(api: Api, reason: str) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 2)
    assert await api.post("/release", reason=reason, error_message="why", **held(claim)) == {"released": 1}
    keyword = await api.keyword(claim["id"])
    assert (keyword["status"], keyword["retry_count"], keyword["lease_expires_at"]) == ("partial", 0, None)
    assert keyword["error_message"] == f"{reason}: why"
    assert (await api.claim("next"))["last_completed_page"] == 2


async def test_a_release_before_the_first_page_uses_up_no_try(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.post("/release", reason="blocked", **held(claim))
    again = await api.claim()
    assert (again["retry_count"], again["last_completed_page"], again["crawl_status"]) == (0, 0, "partial")


async def test_a_crawler_gives_back_all_that_it_holds(api: Api) -> None:
    await api.add("a", "b", "c")
    await api.claim("spider", limit=2)
    await api.claim("other")
    assert await api.post("/release", crawler_id="spider") == {"released": 2}
    assert await api.post("/release", crawler_id="spider") == {"released": 0}
    assert len(await api.look()) == 2


async def test_a_restart_frees_at_once_what_the_earlier_life_held(api: Api) -> None:
    await api.add("python")
    await api.page(await api.claim("stable"), 1)
    await api.post("/release", crawler_id="stable", reason="restarted")
    claim = await api.claim("stable")
    assert (claim["last_completed_page"], claim["crawl_status"], claim["retry_count"]) == (1, "partial", 0)


async def test_restarts_without_a_page_use_up_the_tries(api: Api) -> None:
    [keyword_id] = await api.add("poison")
    for _ in range(3):
        assert await api.claim("stable")
        await api.post("/release", crawler_id="stable", reason="restarted")
    assert await api.claim("stable") is None
    keyword = await api.keyword(keyword_id)
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 3)
    assert keyword["error_message"] == "restarted, no page finished"


async def test_a_released_claim_takes_no_late_page_and_no_heartbeat(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.post("/release", **held(claim))
    assert await api.refused("/page-progress", page=1, **held(claim)) == (409, "wrong-state")
    assert await api.refused("/heartbeat", **held(claim)) == (409, "wrong-state")
    assert (await api.keyword(claim["id"]))["status"] == "partial"


async def test_a_release_repeated_is_the_same_answer(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.post("/release", **held(claim))
    before = await api.keyword(claim["id"])
    clock.advance(minutes=1)
    assert await api.post("/release", **held(claim)) == {"released": 1}
    assert await api.keyword(claim["id"]) == before


async def test_a_finished_claim_has_nothing_to_release(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.complete(claim)
    assert await api.post("/release", **held(claim)) == {"released": 0}
    assert (await api.keyword(claim["id"]))["status"] == "completed"


async def test_a_crawler_may_release_one_keyword_by_its_id(api: Api) -> None:
    await api.add("a", "b")
    claims = await api.claim("spider", limit=2)
    assert await api.post("/release", crawler_id="spider", keyword_id=claims[0]["id"]) == {"released": 1}
    assert (await api.keyword(claims[1]["id"]))["status"] == "crawling"


async def test_a_restart_of_one_claim_reported_again_changes_nothing(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.release("restarted", **held(claim))
    before = await api.keyword(claim["id"])
    clock.advance(minutes=1)
    await api.release("restarted", **held(claim))
    assert await api.keyword(claim["id"]) == before
    assert before["retry_count"] == 1


async def test_a_claim_that_a_restart_ended_does_not_come_back_to_life(api: Api) -> None:
    await api.add("python")
    claim = await api.claim("stable")
    await api.release("restarted", crawler_id="stable")
    assert await api.refused("/page-progress", page=1, **held(claim)) == (409, "wrong-state")
    assert await api.refused("/heartbeat", **held(claim)) == (409, "wrong-state")


async def test_a_restart_frees_a_crawl_whose_lease_ran_out_too(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.page(await api.claim("stable"), 1)
    clock.advance(minutes=45)
    assert await api.release("restarted", crawler_id="stable") == 1
    assert (await api.claim("stable"))["last_completed_page"] == 1


async def test_a_crawler_gives_back_nothing_of_another_source(api: Api) -> None:
    await api.add("python", source="qcwy")
    await api.claim("spider", source="qcwy")
    assert await api.release("stopped", crawler_id="spider") == 0
    assert await api.look(source="qcwy") == []


async def test_a_release_without_a_reason_is_shown_as_other(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.post("/release", **held(claim))
    assert (await api.keyword(claim["id"]))["error_message"] == "other"


async def test_a_late_repetition_of_a_page_after_the_release_is_fine(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.page(claim, 1)
    await api.release("stopped", **held(claim))
    late = await api.page(claim, 1)
    assert (late["applied"], late["lease_expires_at"]) == (False, None)
    assert (await api.keyword(claim["id"]))["status"] == "partial"


async def test_a_released_keyword_keeps_its_failed_tries(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim())
    claim = await api.claim()
    await api.release("blocked", **held(claim))
    assert (await api.claim())["retry_count"] == 1


async def test_a_keyword_released_after_midnight_is_fresh(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.advance(hours=13, minutes=50)
    claim = await api.claim("night")
    await api.page(claim, 2)
    clock.advance(minutes=20)
    await api.release("stopped", **held(claim))
    fresh = await api.claim("next")
    assert (fresh["crawl_status"], fresh["last_completed_page"]) == ("idle", 0)

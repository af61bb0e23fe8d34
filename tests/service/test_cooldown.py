"""A source whose board blocks several crawlers rests for a while."""

from typing import Any

import pytest

from app.controllers import closures
from app.controllers.closures import note_block
from app.core.clock import Clock
from app.core.enums import Source
from app.core.settings import CooldownRules
from tests.service.conftest import SHANGHAI, Api, MovableTime, Now


async def block(api: Api, *crawlers: str) -> None:
    """Each of these crawlers claims a keyword and is blocked by the board."""
    for crawler in crawlers:
        claim = await api.claim(crawler)
        assert claim
        await api.post(
            "/release",
            keyword_id=claim["id"],
            claim_token=claim["claim_token"],
            reason="blocked",
            error_message="code 37",
        )


async def available(api: Api) -> Any:
    return await api.raw.get("/api/v1/keyword/available", params={"source": "boss"})


@pytest.fixture(autouse=True)
async def keywords(api: Api) -> None:
    await api.add("a", "b", "c")


async def test_two_blocked_crawlers_close_the_source_for_a_minute(api: Api, clock: MovableTime) -> None:
    await block(api, "first", "second")
    response = await available(api)
    assert response.json() == {"data": [], "reason": "cooling down: 2 crawlers blocked, last: blocked: code 37"}
    assert 60 <= int(response.headers["retry-after"]) <= 66
    clock.advance(seconds=67)
    assert len((await available(api)).json()["data"]) == 1


async def test_of_two_who_see_the_same_blocks_one_begins_the_first_cool_down(api: Api, moment: Now) -> None:
    until = moment().tomorrow
    assert [await closures._first(Source.BOSS, 1, until, "code 37") for _ in range(2)] == [1, 0]


async def test_one_crawler_alone_closes_nothing(api: Api) -> None:
    await block(api, "only", "only", "only")
    assert len(await api.look()) == 3


async def test_blocks_far_apart_close_nothing(api: Api, clock: MovableTime) -> None:
    await block(api, "first")
    clock.advance(minutes=6)
    await block(api, "second")
    assert len(await api.look()) == 3


async def test_other_releases_close_nothing(api: Api) -> None:
    for crawler in ("first", "second"):
        await api.claim(crawler)
        await api.post("/release", crawler_id=crawler, reason="login")
    assert len(await api.look()) == 3


async def test_another_source_stays_open(api: Api) -> None:
    await api.add("a", source="qcwy")
    await block(api, "first", "second")
    assert await api.claim(source="qcwy")


@pytest.mark.parametrize(("rounds", "least"), [(1, 60), (2, 120), (3, 240), (14, 86400)])
async def test_each_cool_down_in_a_row_is_twice_as_long_up_to_a_day(
    api: Api, clock: MovableTime, rounds: int, least: int
) -> None:
    for _ in range(rounds - 1):
        await block(api, "first", "second")
        clock.advance(seconds=int((await available(api)).headers["retry-after"]))
    await block(api, "first", "second")
    retry_after = int((await available(api)).headers["retry-after"])
    assert least <= retry_after <= min(least * 1.1 + 1, 86400)


async def test_half_an_hour_without_a_block_is_forgiven(api: Api, clock: MovableTime) -> None:
    await block(api, "first", "second")
    clock.advance(minutes=32)
    await block(api, "first", "second")
    assert int((await available(api)).headers["retry-after"]) <= 66


async def test_the_stats_tell_of_it(api: Api) -> None:
    assert (await api.stats())["cooling_down"] is False
    await block(api, "first", "second")
    stats = await api.stats()
    assert (stats["cooling_down"], stats["paused"]) == (True, False)
    assert stats["closed_because"].startswith("cooling down: 2 crawlers blocked")
    assert stats["closed_until"]


async def test_an_operator_may_end_it(api: Api) -> None:
    await block(api, "first", "second")
    await api.post("/resume")
    assert len(await api.look()) == 3


async def test_a_pause_is_told_before_a_cool_down(api: Api) -> None:
    await block(api, "first", "second")
    await api.post("/pause", reason="holiday")
    response = await available(api)
    assert response.json()["reason"] == "paused: holiday"
    assert response.headers["retry-after"] == "60"


async def test_it_can_be_turned_off(api: Api, clock: MovableTime) -> None:
    at = Clock(SHANGHAI, clock).moment()
    for crawler in ("first", "second"):
        await note_block(Source.BOSS, crawler, "blocked", at, CooldownRules(enabled=False))
    assert len(await api.look()) == 3


async def test_further_blocks_during_a_cool_down_do_not_lengthen_it(api: Api) -> None:
    claims = [await api.claim(name) for name in ("first", "second", "third")]
    for claim in claims:
        assert claim
        await api.post("/release", keyword_id=claim["id"], claim_token=claim["claim_token"], reason="blocked")
    assert int((await available(api)).headers["retry-after"]) <= 66

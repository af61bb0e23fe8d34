"""An operator pauses a source: nothing is handed out, and spiders are told to stop at the page boundary."""

from datetime import timedelta, timezone

import pytest

from tests.service.conftest import Api, MovableTime, held, utc


async def test_a_paused_source_hands_out_nothing_and_tells_when_to_ask_again(api: Api) -> None:
    await api.add("python")
    await api.post("/pause", reason="board is down")
    answer = await api.raw.get("/api/v1/keyword/available", params={"source": "boss", "reserve": True})
    assert (answer.json(), answer.headers["retry-after"]) == ({"data": [], "reason": "paused: board is down"}, "60")
    assert await api.look() == []


async def test_a_pause_tells_what_it_is(api: Api, clock: MovableTime) -> None:
    until = utc(clock.now + timedelta(hours=2))
    answer = await api.post("/pause", reason="board is down", until=until)
    assert answer == {"source": "boss", "paused": True, "reason": "board is down", "until": until}


async def test_a_pause_of_one_source_leaves_the_others(api: Api) -> None:
    await api.add("python", source="qcwy")
    await api.post("/pause")
    assert await api.claim(source="qcwy")
    assert [(await api.stats(source))["paused"] for source in ("boss", "qcwy")] == [True, False]


async def test_spiders_of_a_paused_source_are_told_to_stop(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    assert (await api.page(claim, 1))["should_stop"] is False
    await api.post("/pause")
    assert (await api.page(claim, 2))["should_stop"] is True
    assert (await api.page(claim, 2))["should_stop"] is True
    assert (await api.heartbeat(**held(claim)))["should_stop"] is True
    assert (await api.heartbeat(crawler_id="spider"))["should_stop"] is True


async def test_what_spiders_of_a_paused_source_report_is_taken(api: Api) -> None:
    await api.add("a", "b")
    first, second = await api.claim(limit=2)
    await api.post("/pause")
    assert (await api.page(first, 1))["applied"] is True
    assert (await api.complete(first))["applied"] is True
    assert await api.release("stopped", **held(second)) == 1


async def test_a_resumed_source_goes_on(api: Api) -> None:
    await api.add("python")
    await api.post("/pause")
    answer = await api.post("/resume")
    assert answer == {"source": "boss", "paused": False, "reason": "", "until": None}
    assert (await api.stats())["paused"] is False
    claim = await api.claim()
    assert (await api.page(claim, 1))["should_stop"] is False


async def test_resuming_what_is_not_paused_is_fine(api: Api) -> None:
    assert (await api.post("/resume"))["paused"] is False


async def test_a_pause_repeated_replaces_the_one_before(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.post("/pause", reason="for ever")
    await api.post("/pause", reason="for an hour", until=utc(clock.now + timedelta(hours=1)))
    clock.advance(hours=1)
    assert await api.claim()


@pytest.mark.parametrize("offset", [-10, 0, 8, 14])
async def test_a_pause_ends_by_itself_whatever_the_offset_it_was_given_in(
    api: Api, clock: MovableTime, offset: int
) -> None:
    await api.add("python")
    until = (clock.now + timedelta(hours=1)).astimezone(timezone(timedelta(hours=offset)))
    await api.post("/pause", until=until.isoformat())
    clock.advance(minutes=59, seconds=59)
    assert await api.look() == []
    clock.advance(seconds=1)
    assert len(await api.look()) == 1
    assert (await api.stats())["paused"] is False


async def test_a_pause_until_the_past_pauses_nothing(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.post("/pause", until=utc(clock.now - timedelta(seconds=1)))
    assert len(await api.look()) == 1


async def test_a_pause_outlives_midnight(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.post("/pause")
    clock.advance(days=3)
    assert await api.claim() is None

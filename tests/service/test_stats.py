"""How a day stands: used + unused = total, and the states of a day sum to used (I8)."""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI

from app.core.database import Statement
from app.main import shared_stats
from tests.service.conftest import Api, MovableTime, Sweep, by_hand, held

NOTHING = {"crawling": 0, "completed": 0, "failed": 0, "partial": 0, "untracked": 0}


def balanced(stats: dict[str, Any]) -> dict[str, int]:
    """The states that are not zero, after a look at the sums."""
    assert stats["used"] + stats["unused"] == stats["total"]
    assert sum(stats["crawl_status"].values()) == stats["used"]
    assert stats["crawl_status"].keys() == NOTHING.keys()
    return {state: count for state, count in stats["crawl_status"].items() if count}


async def one_of_each(api: Api) -> None:
    ids = await api.add("crawling", "completed", "failed", "partial", "untracked", "new", "new too")
    _, completed, failed, partial = await api.claim(limit=4)
    await api.complete(completed)
    await api.fail(failed)
    await api.release("stopped", **held(partial))
    await api.post("/mark-used", keyword_id=ids[4])


async def test_the_answer_has_the_original_shape(api: Api) -> None:
    assert await api.stats() == {
        "date": "2026-03-02", "total": 0, "used": 0, "unused": 0, "crawl_status": NOTHING, "paused": False,
        "cooling_down": False, "closed_because": None, "closed_until": None,
    }  # fmt: skip


async def test_today_counts_each_state(api: Api) -> None:
    await one_of_each(api)
    stats = await api.stats()
    assert (stats["total"], stats["used"], stats["unused"]) == (7, 5, 2)
    assert balanced(stats) == {"crawling": 1, "completed": 1, "failed": 1, "partial": 1, "untracked": 1}


async def test_the_counts_follow_a_keyword_through_its_day(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    await api.add("python")
    assert balanced(await api.stats()) == {}
    claim = await api.claim()
    assert balanced(await api.stats()) == {"crawling": 1}
    clock.advance(minutes=31)
    await sweep()
    assert balanced(await api.stats()) == {"failed": 1}
    await api.page(claim, 1)
    assert balanced(await api.stats()) == {"crawling": 1}
    await api.complete(claim)
    assert balanced(await api.stats()) == {"completed": 1}


async def test_today_asked_for_by_its_date_is_today(api: Api) -> None:
    await one_of_each(api)
    assert await api.stats(on_date="2026-03-02") == await api.stats()


async def test_a_new_day_begins_with_nothing_used(api: Api, clock: MovableTime) -> None:
    await one_of_each(api)
    clock.advance(days=1)
    stats = await api.stats()
    assert (stats["date"], stats["total"], stats["unused"], balanced(stats)) == ("2026-03-03", 7, 7, {})


async def test_a_past_day_counts_the_same_before_and_after_it_goes_to_the_history(
    api: Api, clock: MovableTime, sweep: Sweep
) -> None:
    await one_of_each(api)
    clock.advance(hours=1)
    await sweep()
    expected = {"completed": 1, "failed": 2, "partial": 1, "untracked": 1}
    assert balanced(await api.stats()) == expected
    clock.advance(days=1)
    assert balanced(await api.stats(on_date="2026-03-02")) == expected
    await api.claim(limit=4)
    assert balanced(await api.stats(on_date="2026-03-02")) == expected
    await api.claim(limit=10)
    assert balanced(await api.stats(on_date="2026-03-02")) == expected
    assert balanced(await api.stats()) == {"crawling": 7}


async def test_each_of_several_days_is_kept_apart(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    await api.complete(await api.claim())
    clock.advance(days=1)
    await api.fail(await api.claim())
    clock.advance(days=1)
    await api.claim()
    days = [await api.stats(on_date=f"2026-03-0{day}") for day in (1, 2, 3, 4, 5)]
    assert [balanced(day) for day in days] == [{}, {"completed": 1}, {"failed": 1}, {"crawling": 1}, {}]


async def test_a_day_to_come_counts_nothing(api: Api) -> None:
    await one_of_each(api)
    stats = await api.stats(on_date="2026-03-03")
    assert (stats["total"], stats["unused"], balanced(stats)) == (7, 7, {})


async def test_without_a_source_each_is_told_by_its_name(api: Api) -> None:
    await api.add("python", source="qcwy")
    await api.claim(source="qcwy")
    stats = await api.get("/stats")
    assert {source: balanced(stats[source]) for source in stats} == {"boss": {}, "qcwy": {"crawling": 1}, "zhilian": {}}
    assert stats["qcwy"] == await api.stats("qcwy")


async def test_without_a_source_the_date_holds_for_each(api: Api) -> None:
    stats = await api.get("/stats", on_date="2026-02-28")
    assert [stats[source]["date"] for source in ("boss", "qcwy", "zhilian")] == ["2026-02-28"] * 3


async def test_the_history_of_one_source_is_not_counted_for_another(api: Api, clock: MovableTime) -> None:
    for source in ("boss", "qcwy"):
        await api.add("python", source=source)
    await api.claim()
    clock.advance(days=1)
    await api.claim()
    assert balanced(await api.stats("qcwy", on_date="2026-03-02")) == {}


async def test_a_crawl_that_lives_past_midnight_counts_for_the_day_of_its_claim(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.advance(hours=13, minutes=50)
    await api.claim()
    clock.advance(minutes=20)
    assert balanced(await api.stats()) == {}
    assert balanced(await api.stats(on_date="2026-03-02")) == {"crawling": 1}


async def test_a_keyword_freed_by_hand_counts_as_unused_until_it_is_claimed(api: Api) -> None:
    await api.add("python")
    await by_hand("UPDATE boss_keyword SET crawl_status = 'partial', last_completed_page = 2")
    assert balanced(await api.stats()) == {}
    await api.claim()
    assert balanced(await api.stats()) == {"crawling": 1}


async def test_a_past_day_with_a_keyword_deleted_since_still_adds_up(api: Api, clock: MovableTime) -> None:
    await api.add("a", "b")
    await api.claim(limit=2)
    clock.advance(days=1)
    await api.claim(limit=2)
    await by_hand("DELETE FROM boss_keyword WHERE job = 'a'")
    stats = await api.stats(on_date="2026-03-02")
    assert balanced(stats) == {"failed": 2}
    assert (stats["used"], stats["unused"]) == (2, 0)


async def test_fifty_who_watch_at_once_cost_one_read(
    app: FastAPI, api: Api, sent: list[Statement], monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.add("python")
    monkeypatch.setitem(app.state._state, "day_counts", shared_stats(app.state.clock, 60))

    def reads() -> int:
        return len([statement for statement in sent if "COUNT(*)" in statement.sql])

    answers = await asyncio.gather(*(api.stats() for _ in range(50)))
    assert {answer["total"] for answer in answers} == {1}
    await api.stats()
    assert reads() == 1
    await api.stats("qcwy")
    assert reads() == 2

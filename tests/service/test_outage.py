"""After the service was away, living spiders keep their keywords, dead ones lose them a little later."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.controllers.presence import note_alive, warn_of_clock_skew
from app.core import database, database_errors
from app.core.clock import Moment, system_time
from app.core.settings import CrawlRules
from tests.service.conftest import Api, MovableTime, Now, Sweep, held, utc


def prolongations(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if line.endswith("prolonged")]


async def test_leases_that_ran_out_while_the_service_was_away_get_a_grace(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    claim = await api.claim()
    clock.advance(hours=2)
    await note_alive(moment(), rules)
    assert await sweep() == 0
    assert await api.claim("robber") is None
    assert (await api.keyword(claim["id"]))["lease_expires_at"] == utc(clock.now + timedelta(minutes=5))


async def test_a_spider_that_reports_within_the_grace_keeps_its_keyword(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    claim = await api.claim()
    clock.advance(hours=2)
    await note_alive(moment(), rules)
    clock.advance(minutes=4)
    assert (await api.page(claim, 1))["lease_expires_at"] == utc(clock.now + timedelta(minutes=30))
    clock.advance(minutes=5)
    await note_alive(moment(), rules)
    assert await sweep() == 0


async def test_a_dead_spider_loses_its_keyword_when_the_grace_is_over(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    await api.page(await api.claim("dead"), 1)
    clock.advance(hours=2)
    for _ in range(6):
        await note_alive(moment(), rules)
        clock.advance(minutes=1)
    assert await sweep() == 1
    assert (await api.claim("next"))["last_completed_page"] == 1


async def test_a_short_gap_gives_no_grace(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep, caplog: pytest.LogCaptureFixture
) -> None:
    await api.add("python")
    await api.claim("dead")
    for _ in range(7):
        await note_alive(moment(), rules)
        clock.advance(minutes=5)
    await note_alive(moment(), rules)
    assert await sweep() == 1
    assert prolongations(caplog) == []


async def test_a_lease_that_had_run_out_before_the_service_went_away_gets_no_grace(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep
) -> None:
    await api.add("dead before", "ran out meanwhile")
    await api.claim("first")
    clock.advance(minutes=20)
    await api.claim("second")
    clock.advance(minutes=11)
    await note_alive(moment(), rules)
    clock.advance(hours=2)
    await note_alive(moment(), rules)
    assert await sweep() == 1
    assert [item["status"] for item in (await api.get("", source="boss"))["items"]] == ["failed", "crawling"]


async def test_a_lease_that_runs_longer_than_the_grace_is_left_as_it_is(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    claim = await api.claim()
    clock.advance(minutes=10)
    await note_alive(moment(), rules)
    assert (await api.keyword(claim["id"]))["lease_expires_at"] == claim["lease_expires_at"]


async def test_four_processes_that_come_back_at_once_give_the_grace_once(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, caplog: pytest.LogCaptureFixture
) -> None:
    await api.add("a", "b")
    await note_alive(moment(), rules)
    await api.claim(limit=2)
    clock.advance(hours=2)
    later = (replace(moment(), now=clock.now + timedelta(seconds=seconds)) for seconds in range(4))
    await asyncio.gather(*(note_alive(at, rules) for at in later))
    assert len(prolongations(caplog)) == 1
    assert "2 leases of boss prolonged" in prolongations(caplog)[0]


async def test_four_processes_that_start_on_an_empty_database_note_themselves_once(
    api: Api, moment: Now, rules: CrawlRules
) -> None:
    await asyncio.gather(*(note_alive(moment(), rules) for _ in range(4)))
    assert len(await database.fetch("SELECT * FROM service_state")) == 1


async def test_a_process_whose_clock_is_behind_does_not_move_the_sign_of_life_back(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules, sweep: Sweep
) -> None:
    await api.add("python")
    await api.claim("dead")
    clock.advance(minutes=31)
    await note_alive(moment(), rules)
    clock.advance(minutes=-20)
    await note_alive(moment(), rules)
    clock.advance(minutes=20)
    await note_alive(moment(), rules)
    assert await sweep() == 1


async def test_all_sources_get_the_grace(api: Api, clock: MovableTime, moment: Now, rules: CrawlRules) -> None:
    await note_alive(moment(), rules)
    for source in ("boss", "qcwy", "zhilian"):
        await api.add("python", source=source)
        await api.claim(source=source)
    clock.advance(hours=2)
    await note_alive(moment(), rules)
    assert [await api.claim("robber", source=source) for source in ("boss", "qcwy", "zhilian")] == [None] * 3


async def test_the_grace_is_a_setting(api: Api, clock: MovableTime, moment: Now, rules: CrawlRules) -> None:
    await api.add("python")
    longer = replace(rules, outage_grace=timedelta(minutes=20))
    await note_alive(moment(), longer)
    claim = await api.claim()
    clock.advance(hours=2)
    await note_alive(moment(), longer)
    clock.advance(minutes=19)
    assert await api.claim("robber") is None
    assert (await api.page(claim, 1))["applied"] is True


async def test_after_the_database_was_away_the_first_claim_robs_nobody(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    claim = await api.claim()
    clock.advance(hours=2)
    database_errors.translated(ConnectionResetError())  # what every statement meets while the database is away
    assert await api.claim("robber") is None
    assert (await api.page(claim, 1))["applied"] is True


async def test_the_grace_after_an_outage_of_the_database_is_given_once(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    await api.page(await api.claim("dead"), 1)
    clock.advance(hours=2)
    database_errors.translated(ConnectionResetError())
    assert await api.claim("next") is None
    assert not database_errors.interruption.seen
    clock.advance(minutes=5)
    assert (await api.claim("next"))["last_completed_page"] == 1


async def test_a_claim_that_got_its_grace_may_end_without_a_page(
    api: Api, clock: MovableTime, moment: Now, rules: CrawlRules
) -> None:
    await api.add("python")
    await note_alive(moment(), rules)
    claim = await api.claim()
    clock.advance(hours=2)
    await note_alive(moment(), rules)
    assert await api.release("network", **held(claim)) == 1


# --- clocks -----------------------------------------------------------------------------------------------------------


def moment_off_by(seconds: float, like: Moment) -> Moment:
    return replace(like, now=system_time() + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-7, 7])
async def test_a_clock_that_is_off_the_databases_is_warned_of(
    api: Api, moment: Now, caplog: pytest.LogCaptureFixture, seconds: int
) -> None:
    await warn_of_clock_skew(moment_off_by(seconds, moment()))
    warnings = [line for line in caplog.messages if "clock" in line]
    assert len(warnings) == (1 if database.is_mysql() else 0)  # SQLite has no clock of its own


async def test_a_clock_that_agrees_is_not_warned_of(api: Api, moment: Now, caplog: pytest.LogCaptureFixture) -> None:
    await warn_of_clock_skew(moment_off_by(0, moment()))
    assert caplog.messages == []

"""How the database looks for rows: on the hot path by an index and in its order, whatever the size of the table."""

import asyncio
from typing import Any

from app.core import database
from app.core.database import Statement
from tests.service.conftest import Api, MovableTime, Sweep, by_hand, held

KEYWORDS = 4_000


async def a_table_in_the_middle_of_its_day(api: Api) -> None:
    names = [{"city": "北京", "job": f"job {number}"} for number in range(KEYWORDS)]
    await api.post("/bulk", keywords=names)
    today = "last_requested_date = '2026-03-02', last_requested_at = '2026-03-02 01:00:00'"
    yesterday = "last_requested_date = '2026-03-01', last_requested_at = '2026-03-01 01:00:00'"
    leases = {"alive": "'2026-03-02 09:00:00'", "stale": "'2026-03-02 01:30:00'"}
    for remainder, change in enumerate(
        (
            f"crawl_status = 'partial', retry_at = '2026-03-02 01:10:00', {today}",
            f"crawl_status = 'failed', retry_count = 1, retry_at = '2026-03-02 01:10:00', {today}",
            f"crawl_status = 'crawling', lease_expires_at = {leases['alive']}, crawler_id = 'other', {today}",
            f"crawl_status = 'crawling', lease_expires_at = {leases['stale']}, crawler_id = 'dead', {today}",
            f"crawl_status = 'completed', {today}",
            f"crawl_status = 'completed', {yesterday}",
        )
    ):
        await by_hand(f"UPDATE boss_keyword SET {change} WHERE id % 8 = {remainder}")
    await by_hand("ANALYZE TABLE boss_keyword" if database.is_mysql() else "ANALYZE")


async def a_day_of_calls(api: Api, clock: MovableTime, sweep: Sweep) -> None:
    claims = [await api.claim(), *await api.claim(limit=60)]
    await asyncio.gather(*(api.claim(f"spider-{number}") for number in range(20)))
    await api.page(claims[0], 5)
    await asyncio.gather(*(api.page(claim, 6) for claim in claims[:40]))
    await api.heartbeat(**held(claims[0]))
    await api.heartbeat(crawler_id="spider")
    await asyncio.gather(*(api.heartbeat(**held(claim)) for claim in claims[:40]))
    await asyncio.gather(*(api.complete(claim) for claim in claims[:40]))
    await api.complete(claims[40])
    await api.fail(claims[41])
    await api.release("stopped", **held(claims[42]))
    await api.release("stopped", crawler_id="spider")
    await api.look(10)
    clock.advance(minutes=31)
    await sweep()


async def test_the_hot_statements_find_their_rows_by_an_index(
    api: Api, clock: MovableTime, sweep: Sweep, sent: list[Statement]
) -> None:
    await a_table_in_the_middle_of_its_day(api)
    sent.clear()
    await a_day_of_calls(api, clock, sweep)
    statements = {statement.sql: statement for statement in sent if "boss_keyword" in statement.sql}
    kinds = {statement.sql.split()[0].strip("(") for statement in statements.values()}
    assert kinds == {"SELECT", "UPDATE"}
    assert len(statements) > 15
    for statement in statements.values():
        for step in await plan(statement):
            assert not is_slow(step), (step, statement.sql)


async def plan(statement: Statement) -> list[Any]:
    explain = "EXPLAIN" if database.is_mysql() else "EXPLAIN QUERY PLAN"
    return await database.fetch(f"{explain} {statement.sql}", statement.parameters)


def is_slow(step: tuple[Any, ...]) -> bool:
    """Whether a line of a plan reads the table from one end to the other, or sorts what it has read."""
    if not database.is_mysql():
        line = step[3]
        return (line.startswith("SCAN boss_keyword") and "INDEX" not in line) or "TEMP B-TREE" in line
    table, access, extra = step[2], step[3], step[9] or ""
    return table == "boss_keyword" and (access in {"ALL", "index"} or "filesort" in extra)

"""What the size of the table costs: claims, the counts of a day, the sweep, the import of a work list."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack

import httpx
from pydantic import SecretStr

from app.controllers.silence import release_stale
from app.controllers.stats import get_stats
from app.core.clock import Clock
from app.core.enums import Source
from app.core.init_app import open_database
from app.core.settings import Settings
from benchmarks import world
from benchmarks.calls import claims
from benchmarks.load import Load, get, replay
from benchmarks.table import Row
from benchmarks.world import API, TABLE
from tests import mariadb

SMALL = 1_000
WAITING = 20_000
DAY_BEFORE = (
    "INSERT INTO keyword_history (source, keyword_id, business_date, city, job, state, last_completed_page, jobs_found,"
    f" retry_count, error_message, created_at) SELECT 'boss', id, CURDATE() - INTERVAL 2 DAY, city, job, 'completed',"
    f" 3, 90, 0, '', UTC_TIMESTAMP(6) FROM {TABLE}"
)
UNFINISHED = (
    "crawl_status = IF(id % 4 = 0, 'partial', 'failed'), last_requested_date = CURDATE(), retry_count = (id % 4 <> 0),"
    " retry_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, claim_token = 'earlier', crawler_id = 'earlier'"
)


def _half_a_day(server: str, stack: ExitStack, keywords: int) -> tuple[str, str]:
    """A database of so many keywords, half of them done today, all of them in the history; and its service."""
    database, service = stack.enter_context(world.table(server, keywords))
    world.reset(database, world.HALF_DONE)
    mariadb.run_sql(database, DAY_BEFORE, f"ANALYZE TABLE {TABLE}")
    return database, service


def _claims(database: str, service: str) -> Load:
    load = replay(service, claims(), 1, 1)
    [(held,)] = mariadb.run_sql(database, f"SELECT COUNT(*) FROM {TABLE} WHERE crawl_status = 'crawling'")
    world.reset(database, world.HALF_DONE, "crawl_status = 'crawling'")
    return load.proven(int(str(held)), 1)


def flat(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """Claims one after the other in a small and a large table, and in the large one with much unfinished work."""
    large = 5_000_000 if full else 200_000
    with ExitStack() as stack:
        small_one = _half_a_day(server, stack, SMALL)
        large_one = _half_a_day(server, stack, large)
        for what in (f"{large:,} keywords", f"{large:,} keywords, {WAITING:,} partial and {WAITING:,} failed"):
            if "partial" in what:
                world.reset(large_one[0], UNFINISHED, f"id % 2 = 0 AND id <= {4 * WAITING}")
            rows = [
                Row(f"claim {name}, 1 connection, {what}", f"{name} with {SMALL:,}", " ms") for name in ("p50", "p99")
            ]
            for _ in range(rounds):
                in_small, in_large = _claims(*small_one), _claims(*large_one)
                rows[0].add(in_large.p50 / in_small.p50, ours=in_large.p50 * 1e3, other=in_small.p50 * 1e3)
                rows[1].add(in_large.p99 / in_small.p99, ours=in_large.p99 * 1e3, other=in_small.p99 * 1e3)
            yield from rows


def counts(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """The counts of a day in which nine of ten keywords were used, and fifty people who look at them."""
    keywords = 1_000_000 if full else 100_000
    with world.table(server, keywords) as (database, service), world.server("benchmarks.empty") as empty:
        world.reset(database, world.HALF_DONE.replace("(id % 2)", "0"), f"id <= {keywords * 9 // 10}")
        row = Row(f"counts of a day, {keywords:,} keywords", "one COUNT(*) of the table", " ms")
        for _ in range(rounds):
            ours = _timed(database, lambda settings, clock: get_stats(Source.BOSS, clock.moment()))
            began = time.perf_counter()
            mariadb.run_sql(database, f"SELECT COUNT(*) FROM {TABLE}")
            count = time.perf_counter() - began
            row.add(ours / count, ours=ours * 1e3, other=count * 1e3)
        yield row
        row = Row("/stats for 50 people, each every 2 s, p95", "p95 of an empty endpoint for them", " ms")
        for _ in range(rounds):
            watched = replay(service, [get(f"{API}/stats?source=boss")], 50, 6, pause_milliseconds=2000)
            nothing = replay(empty, [get("/livez")], 50, 6, pause_milliseconds=2000)
            row.add(watched.p95 / nothing.p95, ours=watched.p95 * 1e3, other=nothing.p95 * 1e3)
        yield row


def sweep(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """The sweep of 2,000 stale crawls, against one UPDATE of the same rows by their ids."""
    keywords, stale = 1_000_000 if full else 100_000, 2_000
    with world.table(server, keywords) as (database, _):
        world.reset(database, world.HALF_DONE)
        row = Row(f"sweep of {stale:,} stale, {keywords:,} keywords", "one UPDATE of them by id", " ms")
        some = f"id % {keywords // stale} = 0"
        for _ in range(rounds):
            world.reset(database, world.HELD.replace("+ INTERVAL 10 HOUR", "- INTERVAL 1 MINUTE"), some)
            ours = _timed(database, _swept)
            ids = ", ".join(str(number) for number in range(keywords // stale, keywords + 1, keywords // stale))
            began = time.perf_counter()
            mariadb.run_sql(database, f"UPDATE {TABLE} SET crawl_status = 'partial' WHERE id IN ({ids})")
            plain = time.perf_counter() - began
            row.add(ours / plain, ours=ours * 1e3, other=plain * 1e3)
        yield row


async def _swept(settings: Settings, clock: Clock) -> None:
    swept = await release_stale(Source.BOSS, clock.moment(), settings.crawl_rules)
    if swept != 2_000:
        raise RuntimeError(f"{swept} crawls were swept")


def _timed(database: str, operation: Callable[[Settings, Clock], Awaitable[object]]) -> float:
    """Seconds that an operation of the controllers takes in this process."""

    async def run() -> float:
        settings = Settings(database_url=SecretStr(database), timezone="UTC")
        async with open_database(settings):
            began = time.perf_counter()
            await operation(settings, Clock(settings.zone))
            return time.perf_counter() - began

    return asyncio.run(run())


def bulk(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """A work list over /bulk, 10,000 keywords a call, against one INSERT of as many rows."""
    keywords = 1_000_000 if full else 100_000
    row = Row(f"{keywords:,} keywords over /bulk", "one INSERT … SELECT of as many", " s")
    for _ in range(1 if full else rounds):
        with ExitStack() as stack:
            database = stack.enter_context(mariadb.temporary_database(server))
            service = stack.enter_context(world.service(database))
            client = stack.enter_context(httpx.Client(base_url=service, timeout=120))
            began = time.perf_counter()
            for start in range(0, keywords, 10_000):
                names = [{"city": "上海", "job": f"job {number}"} for number in range(start, start + 10_000)]
                added = client.post(f"{API}/bulk", json={"source": "boss", "keywords": names}).raise_for_status().json()
                if added["data"] != {"created": 10_000, "existing": 0}:
                    raise RuntimeError(f"/bulk says {added}")
            ours = time.perf_counter() - began
            mariadb.run_sql(database, f"DELETE FROM {TABLE}")
            began = time.perf_counter()
            world.fill(database, keywords)
            plain = time.perf_counter() - began
            row.add(ours / plain, ours=ours, other=plain)
    yield row

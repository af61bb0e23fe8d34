"""What a call costs over HTTP, against the same call of an endpoint that does nothing, and against the original."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import raw, world
from benchmarks.load import Load, get, post, replay
from benchmarks.table import Row
from benchmarks.world import API, CRAWLER, TABLE
from tests import mariadb

KEYWORDS = 60_000
SECONDS = 3  # of load in each round


@dataclass(frozen=True)
class Call:
    """A kind of call: the state of the table before it, its requests, and how many of them the table shows."""

    name: str
    before: str
    requests: Callable[[], Iterator[bytes]]
    shown: str


def reports(name: str, **more: object) -> Iterator[bytes]:
    for number in range(1, KEYWORDS + 1):
        claim = {"source": "boss", "keyword_id": number, "claim_token": f"token-{number}", "crawler_id": CRAWLER}
        yield post(f"{API}/{name}", {**claim, **more})


def claims() -> Iterator[bytes]:
    for number in range(64):
        yield get(f"{API}/available?source=boss&limit=1&reserve=true&crawler_id=spider-{number}")


CLAIM = Call("available", world.NEVER_ASKED, claims, "COUNT(last_requested_date)")
PROGRESS = Call(
    "page-progress",
    world.HELD,
    partial(reports, "page-progress", page=1, jobs_found=15, total_pages=3),
    "SUM(last_completed_page)",
)
COMPLETE = Call(
    "crawl-complete",
    world.HELD,
    partial(reports, "crawl-complete", status="completed"),
    "SUM(crawl_status = 'completed')",
)
HEARTBEAT = Call(
    "heartbeat", world.HELD, partial(reports, "heartbeat"), "SUM(lease_expires_at < UTC_TIMESTAMP(6) + INTERVAL 9 HOUR)"
)


def measured(url: str, database: str, call: Call, connections: int) -> Load:
    """Load on a server that works on this database. Raises unless the table shows each call that was answered."""
    world.reset(database, call.before)
    load = replay(url, call.requests(), connections, SECONDS)
    [(shown,)] = mariadb.run_sql(database, f"SELECT {call.shown} FROM {TABLE}")
    return load.proven(int(str(shown or 0)), connections)


def against_empty(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """Each call, 16 and 64 connections; the service and the yardstick take turns."""
    with world.table(server, KEYWORDS) as (database, service), world.server("benchmarks.empty") as empty:
        for call in (PROGRESS, COMPLETE, HEARTBEAT, CLAIM):
            for connections in (16, 64):
                row = Row(f"{call.name}, {connections} connections", "requests/s of empty")
                for _ in range(rounds):
                    yardstick = replay(empty, call.requests(), connections, SECONDS)
                    ours = measured(service, database, call, connections)
                    row.add(ours.rate / yardstick.rate, ours=ours.rate, other=yardstick.rate)
                yield row


def two_workers(server: str, rounds: int, full: bool) -> Iterator[Row]:
    with world.table(server, KEYWORDS) as (database, one), world.service(database, WORKERS="2") as two:
        for call in (PROGRESS, CLAIM):
            row = Row(f"{call.name}, 64 connections, two workers", "requests/s of one worker")
            for _ in range(rounds):
                alone = measured(one, database, call, 64)
                both = measured(two, database, call, 64)
                row.add(both.rate / alone.rate, ours=both.rate, other=alone.rate)
            yield row


def against_original(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """The original hands out doubles and loses reports: what it answers is taken at its word."""
    with (
        world.table(server, KEYWORDS) as (database, service),
        world.server("benchmarks.original", DATABASE_URL=database) as original,
    ):
        for call in (CLAIM, PROGRESS):
            row = Row(f"{call.name}, 64 connections", "requests/s of the original")
            for _ in range(rounds):
                world.reset(database, call.before)
                theirs = replay(original, call.requests(), 64, SECONDS)
                ours = measured(service, database, call, 64)
                row.add(ours.rate / theirs.rate, ours=ours.rate, other=theirs.rate)
            yield row


def one_connection(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """Nothing to do together: latency against that of an empty endpoint and of the bare statements, added up."""
    with world.table(server, KEYWORDS) as (database, service), world.server("benchmarks.empty") as empty:
        for call in (PROGRESS, COMPLETE, HEARTBEAT, CLAIM):
            row = Row(f"{call.name}, 1 connection, p50", "p50 of empty and bare statements", " ms")
            for _ in range(rounds):
                world.reset(database, call.before)
                parts = raw.p50(database, call.name) + replay(empty, call.requests(), 1, SECONDS).p50
                ours = measured(service, database, call, 1).p50
                row.add(ours / parts, ours=ours * 1e3, other=parts * 1e3)
            yield row


def on_sqlite(server: str, rounds: int, full: bool) -> Iterator[Row]:
    """The same against empty, on SQLite."""
    lease = "lease_expires_at = '2999-01-01 00:00:00+00:00'"
    held = f"crawl_status = 'crawling', last_requested_date = DATE(), claim_token = 'token-' || id, {lease}"
    fresh = "crawl_status = 'idle', last_requested_date = NULL, claim_token = '', lease_expires_at = NULL"
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "bench.sqlite3"
        service = stack.enter_context(world.service(f"sqlite://{file}"))
        empty = stack.enter_context(world.server("benchmarks.empty"))
        table = stack.enter_context(closing(sqlite3.connect(file, isolation_level=None, timeout=30)))
        names = ((number, f"job {number}") for number in range(1, KEYWORDS + 1))
        table.execute("BEGIN")
        insert = f"INSERT INTO {TABLE} (id, city, job, created_at, updated_at) VALUES (?, '北京', ?, DATE(), DATE())"
        table.executemany(insert, names)
        table.execute("COMMIT")
        for call, before in ((PROGRESS, held), (CLAIM, fresh)):
            row = Row(f"{call.name}, 16 connections, SQLite", "requests/s of empty")
            for _ in range(rounds):
                yardstick = replay(empty, call.requests(), 16, SECONDS)
                table.execute(f"UPDATE {TABLE} SET last_completed_page = 0, crawler_id = '{CRAWLER}', {before}")
                load = replay(service, call.requests(), 16, SECONDS)
                [shown] = table.execute(f"SELECT {call.shown} FROM {TABLE}").fetchone()
                ours = load.proven(shown, 16)
                row.add(ours.rate / yardstick.rate, ours=ours.rate, other=yardstick.rate)
            yield row

"""Handing out keywords: which may be had, and the one statement that decides who gets them."""

import asyncio
import logging
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from tortoise.backends.base.client import BaseDBAsyncClient

from app.controllers.closures import closure
from app.controllers.presence import note_alive_after_interruption
from app.core.clock import Moment
from app.core.database import ATTEMPTS, Connection, database_client, fetch, retried, transaction
from app.core.enums import CrawlStatus, Source
from app.core.errors import DatabaseUnavailable
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import table_of
from app.models.keyword_row import KeywordRow, claim_order, past_state, standing

logger = logging.getLogger(__name__)

SPARE_CANDIDATES = 8  # read beyond what is asked for: other processes take the same rows first
TURN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A keyword as it is handed out; without token and lease when somebody only looks."""

    id: int
    city: str
    job: str
    last_completed_page: int
    total_pages: int | None
    crawl_status: CrawlStatus
    retry_count: int
    claim_token: str | None = None
    lease_expires_at: datetime | None = None


async def get_available(
    source: Source,
    at: Moment,
    rules: CrawlRules,
    *,
    limit: int = 1,
    reserve: bool = False,
    crawler_id: str | None = None,
) -> list[Claim]:
    """The next keywords of a source: partial ones first, then failed ones with tries left, then those not asked today.

    With `reserve` they are claimed, under a lease when `crawler_id` is given; else they are only shown. A source
    that is paused or cools down has none. Raises DatabaseUnavailable.
    """
    if await closure(source, at):
        return []
    if not reserve:
        return [_claim_of(row, at) for row in (await _candidates(source, at, rules, limit))[:limit]]
    await note_alive_after_interruption(at, rules)
    async with _turn(source):
        return await _reserve(source, at, rules, limit, crawler_id)


async def _reserve(source: Source, at: Moment, rules: CrawlRules, limit: int, crawler_id: str | None) -> list[Claim]:
    """Claim up to `limit` keywords:

    1. Read the candidates in claim order, a few more than are needed.
    2. Claim from the front of the list as many as are missing; those that another process took first fall out.
    3. Go on down the list; when it is used up and keywords are still missing, wait a moment and read again.
    4. End with enough keywords, or when everything that a read found is ours.
    """
    won: list[Claim] = []
    try:
        for tries in range(ATTEMPTS):
            rows = await _candidates(source, at, rules, limit - len(won) + SPARE_CANDIDATES)
            before, seen = len(won), len(rows)
            while rows and len(won) < limit:
                missing = limit - len(won)
                won += await claim_rows(source, rows[:missing], at, rules, crawler_id)
                rows = rows[missing:]
            if len(won) == limit or len(won) - before == seen:
                return won
            await asyncio.sleep(random.uniform(0, min(0.01 * 2**tries, 0.5)))
    except DatabaseUnavailable:
        if not won:
            raise
        return won  # these are committed: to answer with an error would lose them until their leases run out
    if not won:
        raise DatabaseUnavailable("Others took each keyword first. Try again in a moment.")
    return won


async def _candidates(source: Source, at: Moment, rules: CrawlRules, number: int) -> list[KeywordRow]:
    now, today, tries = at.now, at.today, rules.max_retries
    arms = (
        (today, number),
        (number,),
        (now, today, tries, number),
        (today, now, tries, number),
        (now, number),
        (today, now, number),
    )
    statement = sql.CANDIDATES.format(table=table_of(source))
    rows = await fetch(statement, [parameter for arm in arms for parameter in arm])
    return sorted((KeywordRow.read(row) for row in rows), key=lambda row: claim_order(row, at))


@retried
async def claim_rows(
    source: Source, rows: list[KeywordRow], at: Moment, rules: CrawlRules, crawler_id: str | None
) -> list[Claim]:
    """Claim these keywords as they were read, in one transaction; those that have changed since are left out."""
    won = {}
    async with transaction() as connection:
        # By id, so that two claimants who share rows lock them in the same order.
        for row in sorted(rows, key=lambda row: row.id):
            claim = await _claim(connection, source, row, at, rules, crawler_id)
            if claim:
                won[row.id] = claim
    for row in rows:
        if row.id in won:
            logger.info("claimed source=%s keyword=%d page=%d crawler=%s", source, row.id,
                        won[row.id].last_completed_page + 1, crawler_id)  # fmt: skip
    return [won[row.id] for row in rows if row.id in won]


async def _claim(
    connection: Connection, source: Source, row: KeywordRow, at: Moment, rules: CrawlRules, crawler_id: str | None
) -> Claim | None:
    found = standing(row, at)
    token = secrets.token_urlsafe(18)
    lease = at.now + rules.lease if crawler_id else None
    # Without a crawler id the keyword counts by its date alone, as the first design had it: untracked.
    status = CrawlStatus.CRAWLING if crawler_id else CrawlStatus.IDLE
    taken = await connection.execute(
        sql.CLAIM.format(table=table_of(source)),
        (at.today, at.now, found.last_completed_page, found.last_completed_page, found.total_pages,
         found.jobs_found, found.retry_count, found.error_message, at.now,
         crawler_id, token, lease, at.now, status,
         row.id, row.claim_token, row.crawl_status, row.last_completed_page, row.jobs_found, row.retry_count, at.now),
    )  # fmt: skip
    if not taken:
        return None
    if found.fresh and row.last_requested_date:
        await _keep_history(connection, source, row, at)
    return _claim_of(row, at, token, lease)


async def _keep_history(connection: Connection, source: Source, row: KeywordRow, at: Moment) -> None:
    state, retry_count = past_state(row)
    await connection.execute(
        sql.KEEP_HISTORY,
        (source, row.id, row.last_requested_date, row.city, row.job, state, row.last_completed_page, row.total_pages,
         row.jobs_found, retry_count, row.crawler_id, row.error_message, row.crawl_started_at, row.crawl_finished_at,
         at.now),
    )  # fmt: skip


def _claim_of(row: KeywordRow, at: Moment, token: str | None = None, lease: datetime | None = None) -> Claim:
    found = standing(row, at)
    return Claim(
        row.id, row.city, row.job, found.last_completed_page, found.total_pages, found.crawl_status, found.retry_count,
        token, lease,
    )  # fmt: skip


@asynccontextmanager
async def _turn(source: Source) -> AsyncIterator[None]:
    """Claims of a source take turns within this process: they would only take the same rows from each other."""
    lock = _turns(database_client(), source)
    try:
        async with asyncio.timeout(TURN_SECONDS):
            await lock.acquire()
    except TimeoutError:
        raise DatabaseUnavailable("Too many claims are waiting. Try again in a moment.") from None
    try:
        yield
    finally:
        lock.release()


@lru_cache(maxsize=len(Source))
def _turns(client: BaseDBAsyncClient, source: Source) -> asyncio.Lock:
    return asyncio.Lock()

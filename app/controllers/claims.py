"""Handing out keywords: which may be had, and the one statement that decides who gets them."""

import asyncio
import json
import logging
import random
import secrets
from asyncio import AbstractEventLoop, get_running_loop
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from app.controllers.closures import Closure, closure_query, first_closure
from app.controllers.presence import note_alive_after_interruption
from app.core.batching import Batcher
from app.core.clock import Moment
from app.core.database import ATTEMPTS, Result, Statement, execute, is_mysql, retried, run, transaction
from app.core.enums import CrawlStatus, Source
from app.core.errors import DatabaseUnavailable, ServiceError
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import INDEX_BY_DATE, table_of
from app.models.keyword_row import KeywordRow, Standing, claim_order, past_state, standing

logger = logging.getLogger(__name__)

SPARE_CANDIDATES = 8  # read beyond what is asked for: other processes take the same rows first


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


@dataclass(frozen=True, slots=True)
class Handout:
    """`closed` tells why a source hands out nothing; it is None also when there is just nothing left."""

    claims: list[Claim]
    closed: Closure | None


@dataclass(frozen=True, slots=True)
class Wish:
    """Somebody wants up to `limit` keywords to crawl."""

    source: Source
    at: Moment
    rules: CrawlRules
    limit: int
    crawler_id: str | None


async def get_available(
    source: Source,
    at: Moment,
    rules: CrawlRules,
    *,
    limit: int = 1,
    reserve: bool = False,
    crawler_id: str | None = None,
) -> Handout:
    """The next keywords of a source: partial ones first, then failed ones with tries left, then those not asked today.

    With `reserve` they are claimed, under a lease when `crawler_id` is given; else they are only shown. A source
    that is paused or cools down has none. Raises DatabaseUnavailable.
    """
    if reserve:
        await note_alive_after_interruption(at, rules)
        return await _claims(get_running_loop(), source).carry_out(Wish(source, at, rules, limit, crawler_id))
    closed, rows = await _candidates(source, at, rules, limit)
    return Handout([_claim_of(row, standing(row, at)) for row in rows[:limit]], closed)


@lru_cache(maxsize=len(Source))
def _claims(loop: AbstractEventLoop, source: Source) -> Batcher[Wish, Handout]:
    # One batch at a time within this process: two would only take the same rows from each other.
    return Batcher(_fulfil, _fulfil_together, at_once=1, size=lambda wish: wish.limit)


async def _fulfil(wish: Wish) -> Handout:
    [handout] = await _fulfil_together([wish])
    if isinstance(handout, ServiceError):
        raise handout
    return handout


async def _fulfil_together(wishes: list[Wish]) -> list[Handout | ServiceError]:
    """Claim keywords for all who want some at this moment; those who came first get the first ones.

    1. Read the candidates in claim order, a few more than are needed.
    2. Claim from the front of the list as many as are missing; those that another process took first fall out.
    3. Go on down the list; when it is used up and keywords are still missing, wait a moment and read again.
    4. End with enough keywords, or when everything that a read found is ours.
    """
    last = max(wishes, key=lambda wish: wish.at.now)
    missing = [number for number, wish in enumerate(wishes) for _ in range(wish.limit)]
    won: list[list[Claim]] = [[] for _ in wishes]
    closed, trouble = None, DatabaseUnavailable("Others took each keyword first. Try again in a moment.")
    try:
        for tries in range(ATTEMPTS):
            closed, rows = await _candidates(last.source, last.at, last.rules, len(missing) + SPARE_CANDIDATES)
            lost = 0
            while rows and missing:
                takers = list(zip(rows, missing, strict=False))
                rows = rows[len(takers) :]
                wanted = [(row, wishes[number].crawler_id) for row, number in takers]
                claims = await claim_rows(last.source, wanted, last.at, last.rules)
                lost += len(takers) - len(claims)
                for row, number in takers:
                    if row.id in claims:
                        won[number].append(claims[row.id])
                        missing.remove(number)
            if not missing or not lost:
                return [Handout(each, closed) for each in won]
            await asyncio.sleep(random.uniform(0, min(0.01 * 2**tries, 0.5)))
    except DatabaseUnavailable as error:
        trouble = error
    # What is claimed is committed: to answer with an error would lose it until its lease runs out.
    return [Handout(each, closed) if each else trouble for each in won]


async def _candidates(
    source: Source, at: Moment, rules: CrawlRules, number: int
) -> tuple[Closure | None, list[KeywordRow]]:
    """Why the source hands out nothing, or what it hands out next."""
    now, today, tries = at.now, at.today, rules.max_retries
    arms = (
        (today, number),
        (number,),
        (now, today, tries, number),
        (today, now, tries, number),
        (now, number),
        (today, now, number),
    )
    candidates = sql.CANDIDATES_MYSQL if is_mysql() else sql.CANDIDATES_SQLITE
    statement = candidates.format(table=table_of(source), by_date=INDEX_BY_DATE[source])
    closures, found = await run(
        closure_query(source, at), Statement(statement, [parameter for arm in arms for parameter in arm])
    )
    closed = first_closure(closures.rows)
    if closed:
        return closed, []
    return None, sorted(
        (KeywordRow.read(json.loads(row)) for (row,) in found.rows), key=lambda row: claim_order(row, at)
    )


@retried
async def claim_rows(
    source: Source, wanted: Sequence[tuple[KeywordRow, str | None]], at: Moment, rules: CrawlRules
) -> dict[int, Claim]:
    """Claim these keywords as they were read, each for its crawler, in one transaction.

    Gives the claims by keyword id; keywords that have changed since they were read are left out.
    """
    stands = {row.id: standing(row, at) for row, _ in wanted}
    claims = {
        row.id: _claim_of(row, stands[row.id], secrets.token_urlsafe(18), at.now + rules.lease if crawler_id else None)
        for row, crawler_id in wanted
    }
    # By id, so that two claimants who share rows lock them in the same order.
    kinds = defaultdict(list)
    for row, crawler_id in sorted(wanted, key=lambda each: each[0].id):
        kinds[stands[row.id].fresh, crawler_id is not None].append((row, crawler_id, claims[row.id]))
    statements = [
        _claiming(source, group, at, rules, fresh=fresh, tracked=tracked) for (fresh, tracked), group in kinds.items()
    ]
    past = [row for row, _ in wanted if row.last_requested_date and stands[row.id].fresh]
    if len(statements) == 1 and not past:
        if await execute(*statements[0]) != len(claims):
            claims = await _ours(run, source, claims)
    else:
        async with transaction() as connection:
            history = [_history(source, past, at)] if past else []
            results = await connection.run(*statements, *history)
            if sum(result.matched for result in results[: len(statements)]) != len(claims):
                # Only what is really claimed has its past day kept.
                await connection.rollback()
                await connection.run(*statements)
                claims = await _ours(connection.run, source, claims)
                past = [row for row in past if row.id in claims]
                if past:
                    await connection.run(_history(source, past, at))
    if claims:
        keywords = " ".join(
            f"keyword={row.id} page={claims[row.id].last_completed_page + 1} crawler={crawler_id}"
            for row, crawler_id in wanted
            if row.id in claims
        )
        logger.info("claimed source=%s %s", source, keywords)
    return claims


async def _ours(
    run: Callable[[Statement], Awaitable[list[Result]]], source: Source, claims: dict[int, Claim]
) -> dict[int, Claim]:
    """Those of the claims whose tokens are in the table."""
    [tokens] = await run(Statement(sql.tokens_of(len(claims)).format(table=table_of(source)), list(claims)))
    return {number: claims[number] for number, token in tokens.rows if claims[number].claim_token == token}


def _claiming(
    source: Source, group: Sequence[tuple[KeywordRow, str | None, Claim]], at: Moment, rules: CrawlRules,
    *, fresh: bool, tracked: bool,
) -> Statement:  # fmt: skip
    lease = at.now + rules.lease if tracked else None
    # Without a crawler id the keyword counts by its date alone, as the first design had it: untracked.
    status = CrawlStatus.CRAWLING if tracked else CrawlStatus.IDLE
    tries = [] if fresh else [value for row, _, claim in group for value in (row.id, claim.retry_count)]
    crawlers = [value for row, crawler_id, _ in group for value in (row.id, crawler_id)]
    tokens = [value for row, _, claim in group for value in (row.id, claim.claim_token)]
    as_read = [
        value
        for row, _, _ in group
        for value in (
            row.id, row.claim_token, row.crawl_status, row.last_completed_page, row.jobs_found, row.retry_count,
        )
    ]  # fmt: skip
    return Statement(
        sql.claim(len(group), fresh=fresh).format(table=table_of(source)),
        (at.today, at.now, at.now, lease, at.now, *tries, *crawlers, *tokens, status, *as_read, at.now),
    )


def _history(source: Source, rows: Sequence[KeywordRow], at: Moment) -> Statement:
    values: list[Any] = []
    for row in rows:
        state, retry_count = past_state(row)
        values += (
            source, row.id, row.last_requested_date, row.city, row.job, state, row.last_completed_page,
            row.total_pages, row.jobs_found, retry_count, row.crawler_id, row.error_message, row.crawl_started_at,
            row.crawl_finished_at, at.now,
        )  # fmt: skip
    return Statement(sql.keep_history(len(rows)), values)


def _claim_of(row: KeywordRow, found: Standing, token: str | None = None, lease: datetime | None = None) -> Claim:
    return Claim(
        row.id, row.city, row.job, found.last_completed_page, found.total_pages, found.crawl_status, found.retry_count,
        token, lease,
    )  # fmt: skip

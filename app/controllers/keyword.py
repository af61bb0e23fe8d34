"""The state machine: what spiders report of the keywords they hold, and what becomes of those that fall silent.

    idle ──claim──► crawling ──completed──► completed
                      │  ▲
                      │  └────── claim (resume) ◄────── partial
                      ├──failed──► failed ──claim while tries are left──► crawling
                      └──stale or released──► partial, or failed when silent without a page

Each change is one conditional UPDATE whose row count decides. When it matched nothing, the row is read to tell why:
the report is a repetition (fine, nothing changes), the claim is lost, or the keyword is in another state.
"""

import logging
from dataclasses import dataclass
from datetime import date, datetime

from app.controllers.claims import Claim, claim_rows, get_available
from app.controllers.closures import note_block
from app.controllers.pauses import active_pause
from app.controllers.silence import silence_values
from app.controllers.stats import Stats, get_stats
from app.core.clock import Moment
from app.core.database import Parameters, execute, fetch, retried
from app.core.enums import CrawlStatus, Outcome, ReleaseReason, Source
from app.core.errors import ClaimLost, Contention, KeywordNotFound, WrongState
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import ERROR_MESSAGE_LENGTH, table_of
from app.models.keyword_row import KeywordRow, is_claimable

__all__ = [
    "Claim",
    "Stats",
    "get_available",
    "get_stats",
    "heartbeat",
    "mark_used",
    "release",
    "report_crawl_complete",
    "report_page_progress",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who reports: by the claim's token, the crawler's id, both, or (old spiders) neither."""

    claim_token: str | None = None
    crawler_id: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    applied: bool
    last_completed_page: int
    lease_expires_at: datetime | None
    should_stop: bool


@dataclass(frozen=True, slots=True)
class Completion:
    applied: bool
    crawl_status: CrawlStatus
    retry_count: int


@dataclass(frozen=True, slots=True)
class Renewal:
    renewed: int
    lease_expires_at: datetime | None
    should_stop: bool


@dataclass(frozen=True, slots=True)
class Usage:
    applied: bool
    last_requested_date: date | None


@retried
async def report_page_progress(
    source: Source, keyword_id: int, page: int, reporter: Reporter, at: Moment, rules: CrawlRules,
    *, total_pages: int | None = None, jobs_found: int = 0,
) -> Progress:  # fmt: skip
    """A page is done: move the checkpoint on to it, count its jobs, renew the lease.

    A page at or below the checkpoint was reported before: it counts nothing and only renews the lease.
    Raises KeywordNotFound, ClaimLost, WrongState, DatabaseUnavailable.
    """
    lease = at.now + rules.lease
    held, who = _held(reporter, at, rules)
    moved = await execute(
        sql.PROGRESS.format(table=table_of(source), held=held),
        (jobs_found, total_pages, lease, at.now, page, keyword_id, page, *who),
    )
    should_stop = bool(await active_pause(source, at))
    if moved:
        logger.info("page done source=%s keyword=%d page=%d jobs=%d", source, keyword_id, page, jobs_found)
        return Progress(True, page, lease, should_stop)
    row = await _own_row(source, keyword_id, reporter)
    if page > row.last_completed_page or not _is_own_day(row, reporter, at):
        raise _wrong_state(row)
    renewed = await _renew(source, keyword_id, reporter, at, rules)
    return Progress(False, row.last_completed_page, lease if renewed else None, should_stop)


@retried
async def report_crawl_complete(
    source: Source, keyword_id: int, outcome: Outcome, reporter: Reporter, at: Moment, rules: CrawlRules,
    *, error_message: str = "",
) -> Completion:  # fmt: skip
    """The crawl has ended. `failed` uses up one of the keyword's tries of the day, once however often it is reported.

    Raises KeywordNotFound, ClaimLost, WrongState, DatabaseUnavailable.
    """
    held, who = _held(reporter, at, rules)
    values: Parameters
    message = error_message[:ERROR_MESSAGE_LENGTH]
    if outcome is Outcome.COMPLETED:
        statement, values = sql.COMPLETE, (message, at.now, at.now)
    else:
        retry_at = at.now + rules.retry_backoff
        statement, values = sql.FAIL, (rules.max_retries, at.tomorrow, retry_at, message, at.now, at.now)
    if await execute(statement.format(table=table_of(source), held=held), (*values, keyword_id, *who)):
        # Not `_own_row`: the next spider may have claimed the keyword already.
        row = await _read(source, keyword_id)
        logger.info("crawl %s source=%s keyword=%d pages=%d tries=%d", outcome, source, keyword_id,
                    row.last_completed_page, row.retry_count)  # fmt: skip
        return Completion(True, CrawlStatus(outcome), row.retry_count)
    row = await _own_row(source, keyword_id, reporter)
    if row.crawl_status != CrawlStatus(outcome) or not _is_own_day(row, reporter, at):
        raise _wrong_state(row)
    return Completion(False, row.crawl_status, row.retry_count)


@retried
async def heartbeat(
    source: Source, reporter: Reporter, at: Moment, rules: CrawlRules, *, keyword_id: int | None = None
) -> Renewal:
    """A sign of life: renew one claim (by keyword and token), or all that a crawler holds.

    Raises KeywordNotFound, ClaimLost, WrongState (one claim only), DatabaseUnavailable.
    """
    if keyword_id is None:
        renewed = await execute(
            sql.RENEW_ALL.format(table=table_of(source)), (at.now + rules.lease, at.now, reporter.crawler_id)
        )
    else:
        renewed = await _renew(source, keyword_id, reporter, at, rules)
        if not renewed:
            raise _wrong_state(await _own_row(source, keyword_id, reporter))
    lease = at.now + rules.lease if renewed else None
    return Renewal(renewed, lease, bool(await active_pause(source, at)))


@retried
async def release(
    source: Source, reporter: Reporter, reason: ReleaseReason, at: Moment, rules: CrawlRules,
    *, keyword_id: int | None = None, error_message: str = "",
) -> int:  # fmt: skip
    """Give back one claim (by keyword and token) or all that a crawler holds; return how many are given back.

    The keyword stays at its checkpoint, claimable at once, and no try is counted; only a restart without a new page
    counts like silence, because a spider that dies on a keyword must not meet it for ever.
    Raises KeywordNotFound, ClaimLost (one claim only), DatabaseUnavailable.
    """
    # Room is left for what silence_values appends.
    message = (f"{reason}: {error_message}" if error_message else str(reason))[: ERROR_MESSAGE_LENGTH - 40]
    if reason is ReleaseReason.BLOCKED:
        # First, so that a release that is repeated after an error still tells of the block.
        crawler_id = (await _own_row(source, keyword_id, reporter)).crawler_id if keyword_id else reporter.crawler_id
        await note_block(source, crawler_id or "", message, at, rules.cooldown)
    who: Parameters
    if keyword_id is None:
        claims, who = sql.CLAIMS_OF_CRAWLER, (reporter.crawler_id,)
    else:
        held, holder = _held(reporter, at, rules)
        claims, who = f"id = ? AND {held}", (keyword_id, *holder)
    if reason is ReleaseReason.RESTARTED:
        statement, values = sql.ENDED_IN_SILENCE, silence_values(at, rules, message)
    else:
        statement, values = sql.RELEASE, (message, at.now, at.now, at.now)
    statement = statement.format(table=table_of(source), claims=claims, lease=sql.LEASE_ENDS)
    released = await execute(statement, (*values, *who))
    if released:
        logger.info("released source=%s keyword=%s crawler=%s count=%d reason=%s", source, keyword_id or "all",
                    reporter.crawler_id, released, reason)  # fmt: skip
    elif keyword_id is not None:
        row = await _own_row(source, keyword_id, reporter)
        return int(row.crawl_status is CrawlStatus.PARTIAL)
    return released


@retried
async def mark_used(source: Source, keyword_id: int, at: Moment, rules: CrawlRules) -> Usage:
    """An old spider says that it takes this keyword today: it is claimed without a lease, unless it is taken or done.

    Raises KeywordNotFound, DatabaseUnavailable.
    """
    row = await _read(source, keyword_id)
    if not is_claimable(row, at, rules.max_retries):
        return Usage(False, row.last_requested_date)
    if not await claim_rows(source, [row], at, rules, crawler_id=None):
        raise Contention("claimed by somebody else meanwhile")
    return Usage(True, at.today)


def _held(reporter: Reporter, at: Moment, rules: CrawlRules) -> tuple[str, Parameters]:
    """The condition under which this reporter holds a keyword, with its parameters."""
    condition = sql.HELD_BY_ANYONE
    parameters: Parameters = (at.today, at.now - rules.lease)
    if reporter.claim_token:
        condition, parameters = sql.HELD_BY_TOKEN, (reporter.claim_token,)
    if reporter.crawler_id is not None:
        return condition + sql.AND_BY_CRAWLER, (*parameters, reporter.crawler_id)
    return condition, parameters


async def _renew(source: Source, keyword_id: int, reporter: Reporter, at: Moment, rules: CrawlRules) -> int:
    held, who = _held(reporter, at, rules)
    statement = sql.RENEW.format(table=table_of(source), held=held)
    return await execute(statement, (at.now + rules.lease, at.now, keyword_id, *who))


async def _read(source: Source, keyword_id: int) -> KeywordRow:
    rows = await fetch(sql.READ.format(table=table_of(source)), (keyword_id,))
    if not rows:
        raise KeywordNotFound(f"{source} has no keyword {keyword_id}.")
    return KeywordRow.read(rows[0])


async def _own_row(source: Source, keyword_id: int, reporter: Reporter) -> KeywordRow:
    """The keyword, if its last claim is the reporter's; raises KeywordNotFound or ClaimLost."""
    row = await _read(source, keyword_id)
    if reporter.claim_token and row.claim_token != reporter.claim_token:
        raise ClaimLost("This claim token is not the keyword's current one: stop, and claim another keyword.")
    if reporter.crawler_id is not None and row.crawler_id != reporter.crawler_id:
        raise ClaimLost("Another crawler holds this keyword: stop, and claim another keyword.")
    return row


def _is_own_day(row: KeywordRow, reporter: Reporter, at: Moment) -> bool:
    """Whether a repetition can be told from a report of something older: a token names its claim, a date its day.

    A crawl under way is nothing older, also one that began yesterday.
    """
    under_way = row.crawl_status is CrawlStatus.CRAWLING
    return bool(reporter.claim_token) or under_way or row.last_requested_date == at.today


def _wrong_state(row: KeywordRow) -> WrongState | Contention:
    """Why nothing matched although the claim is the reporter's."""
    if row.crawl_status is CrawlStatus.CRAWLING:
        return Contention("the keyword changed while we looked")
    return WrongState(f"The keyword is {row.crawl_status} and not being crawled under this claim.")

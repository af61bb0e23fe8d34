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
from asyncio import AbstractEventLoop, get_running_loop
from functools import lru_cache, partial

from app.controllers.claims import Claim, claim_rows, get_available
from app.controllers.closures import note_block
from app.controllers.pauses import is_paused
from app.controllers.reports import (
    Completion,
    Progress,
    Renewal,
    Report,
    Reporter,
    Usage,
    complete_together,
    log_end,
    log_pages,
    move_on_together,
    renew_together,
)
from app.controllers.silence import silence_values
from app.core.batching import Batcher
from app.core.clock import Moment
from app.core.database import Parameters, Statement, execute, fetch, retried, run, writers
from app.core.enums import CrawlStatus, Outcome, ReleaseReason, Source
from app.core.errors import ClaimLost, Contention, KeywordNotFound, WrongState
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import ERROR_MESSAGE_LENGTH, table_of
from app.models.keyword_row import KeywordRow, is_claimable

__all__ = [
    "Claim",
    "Reporter",
    "get_available",
    "heartbeat",
    "mark_used",
    "release",
    "report_crawl_complete",
    "report_page_progress",
]

logger = logging.getLogger(__name__)


async def report_page_progress(
    source: Source, keyword_id: int, page: int, reporter: Reporter, at: Moment, rules: CrawlRules,
    *, total_pages: int | None = None, jobs_found: int = 0,
) -> Progress:  # fmt: skip
    """A page is done: move the checkpoint on to it, count its jobs, renew the lease.

    A page at or below the checkpoint was reported before: it counts nothing and only renews the lease.
    Raises KeywordNotFound, ClaimLost, WrongState, DatabaseUnavailable.
    """
    report = Report(source, keyword_id, reporter, at, rules, page, total_pages, jobs_found)
    if reporter.claim_token:
        return await _pages(get_running_loop(), source).carry_out(report)
    return await _move_on(report)


async def report_crawl_complete(
    source: Source, keyword_id: int, outcome: Outcome, reporter: Reporter, at: Moment, rules: CrawlRules,
    *, error_message: str = "",
) -> Completion:  # fmt: skip
    """The crawl has ended. `failed` uses up one of the keyword's tries of the day, once however often it is reported.

    Raises KeywordNotFound, ClaimLost, WrongState, DatabaseUnavailable.
    """
    report = Report(source, keyword_id, reporter, at, rules, error_message=error_message[:ERROR_MESSAGE_LENGTH])
    if outcome is Outcome.COMPLETED and reporter.claim_token:
        return await _completions(get_running_loop(), source).carry_out(report)
    return await _end(report, outcome)


async def heartbeat(
    source: Source, reporter: Reporter, at: Moment, rules: CrawlRules, *, keyword_id: int | None = None
) -> Renewal:
    """A sign of life: renew one claim (by keyword and token), or all that a crawler holds.

    Raises KeywordNotFound, ClaimLost, WrongState (one claim only), DatabaseUnavailable.
    """
    if keyword_id is None:
        return await _renew_all(source, reporter, at, rules)
    report = Report(source, keyword_id, reporter, at, rules)
    return await (
        _signs_of_life(get_running_loop(), source).carry_out(report) if reporter.claim_token else _renew(report)
    )


@lru_cache(maxsize=len(Source))
def _pages(loop: AbstractEventLoop, source: Source) -> Batcher[Report, Progress]:
    return Batcher(_move_on, move_on_together, at_once=writers())


@lru_cache(maxsize=len(Source))
def _completions(loop: AbstractEventLoop, source: Source) -> Batcher[Report, Completion]:
    return Batcher(partial(_end, outcome=Outcome.COMPLETED), complete_together, at_once=writers())


@lru_cache(maxsize=len(Source))
def _signs_of_life(loop: AbstractEventLoop, source: Source) -> Batcher[Report, Renewal]:
    return Batcher(_renew, renew_together, at_once=writers())


@retried
async def _move_on(report: Report) -> Progress:
    held, who = _held(report.reporter, report.at, report.rules)
    table, now = table_of(report.source), report.at.now
    values = (report.jobs_found, report.total_pages, report.lease, now, report.page, report.keyword_id, report.page)
    should_stop = await is_paused(report.source, report.at, report.rules)
    if await execute(sql.PROGRESS.format(table=table, held=held), (*values, *who)):
        log_pages([report])
        return Progress(True, report.page, report.lease, should_stop)
    row = await _own_row(report.source, report.keyword_id, report.reporter)
    if report.page > row.last_completed_page or not _is_own_day(row, report.reporter, report.at):
        raise _wrong_state(row)
    renewed = await execute(*_renewal(report))
    return Progress(False, row.last_completed_page, report.lease if renewed else None, should_stop)


@retried
async def _end(report: Report, outcome: Outcome) -> Completion:
    source, keyword_id, reporter, at, rules = (
        report.source, report.keyword_id, report.reporter, report.at, report.rules,
    )  # fmt: skip
    held, who = _held(reporter, at, rules)
    values: Parameters
    if outcome is Outcome.COMPLETED:
        statement, values = sql.COMPLETE, (report.error_message, at.now, at.now)
    else:
        retry_at = at.now + rules.retry_backoff
        statement, values = sql.FAIL, (rules.max_retries, at.tomorrow, retry_at, report.error_message, at.now, at.now)
    ended, found = await run(
        Statement(statement.format(table=table_of(source), held=held), (*values, keyword_id, *who)),
        _reading(source, keyword_id),
    )
    if ended.matched and found.rows:
        # Whoever's it is now: the next spider may have claimed the keyword already.
        row = KeywordRow.read(found.rows[0])
        log_end(source, outcome, {keyword_id: (row.last_completed_page, row.retry_count)})
        return Completion(True, CrawlStatus(outcome), row.retry_count)
    row = await _own_row(source, keyword_id, reporter)
    if row.crawl_status != CrawlStatus(outcome) or not _is_own_day(row, reporter, at):
        raise _wrong_state(row)
    return Completion(False, row.crawl_status, row.retry_count)


@retried
async def _renew(report: Report) -> Renewal:
    should_stop = await is_paused(report.source, report.at, report.rules)
    renewed = await execute(*_renewal(report))
    if not renewed:
        raise _wrong_state(await _own_row(report.source, report.keyword_id, report.reporter))
    return Renewal(renewed, report.lease, should_stop)


@retried
async def _renew_all(source: Source, reporter: Reporter, at: Moment, rules: CrawlRules) -> Renewal:
    lease = at.now + rules.lease
    should_stop = await is_paused(source, at, rules)
    renewed = await execute(sql.RENEW_ALL.format(table=table_of(source)), (lease, at.now, reporter.crawler_id))
    return Renewal(renewed, lease if renewed else None, should_stop)


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
    if not await claim_rows(source, [(row, None)], at, rules):
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


def _renewal(report: Report) -> Statement:
    held, who = _held(report.reporter, report.at, report.rules)
    statement = sql.RENEW.format(table=table_of(report.source), held=held)
    return Statement(statement, (report.lease, report.at.now, report.keyword_id, *who))


def _reading(source: Source, keyword_id: int) -> Statement:
    return Statement(sql.READ.format(table=table_of(source)), (keyword_id,))


async def _read(source: Source, keyword_id: int) -> KeywordRow:
    rows = await fetch(*_reading(source, keyword_id))
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

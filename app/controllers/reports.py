"""Reports of several keywords in one statement, for the usual case: each names the token of a crawl that is under way.

Everything else (a repetition, a crawl that a sweep ended, a lost claim, a report without a token) is for
`app.controllers.keyword`, which carries out each report by itself: the functions here then change nothing and say so.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from app.controllers.pauses import is_paused
from app.core.clock import Moment
from app.core.database import Parameters, Statement, transaction
from app.core.enums import CrawlStatus, Outcome, Source
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import table_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who reports: by the claim's token, the crawler's id, both, or (old spiders) neither."""

    claim_token: str | None = None
    crawler_id: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What is reported of one keyword; which of the last fields are meant depends on the kind of report."""

    source: Source
    keyword_id: int
    reporter: Reporter
    at: Moment
    rules: CrawlRules
    page: int = 0
    total_pages: int | None = None
    jobs_found: int = 0
    error_message: str = ""

    @property
    def lease(self) -> datetime:
        return self.at.now + self.rules.lease

    @property
    def holder(self) -> Parameters:
        """The parameters of `keyword_sql.HOLDER`."""
        return self.keyword_id, self.reporter.claim_token, self.reporter.crawler_id


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


async def move_on_together(reports: Sequence[Report]) -> list[Progress] | None:
    """A page of each keyword is done. None when one of the reports does not apply."""
    last = _latest(reports)
    jobs = [value for report in reports for value in (report.keyword_id, report.jobs_found)]
    totals = [value for report in reports for value in (report.keyword_id, report.total_pages)]
    pages = [value for report in reports for value in (report.keyword_id, report.page)]
    holders = [value for report in reports for value in (*report.holder, report.page)]
    statement = sql.progress_together(len(reports)).format(table=table_of(last.source))
    should_stop = await is_paused(last.source, last.at, last.rules)
    async with transaction() as connection:
        moved = await connection.execute(statement, (*jobs, *totals, last.lease, last.at.now, *pages, *holders))
        if moved != len(reports):
            await connection.rollback()
            return None
    log_pages(reports)
    return [Progress(True, report.page, last.lease, should_stop) for report in reports]


async def renew_together(reports: Sequence[Report]) -> list[Renewal] | None:
    """A sign of life of each keyword. None when one of the claims is not a crawl under way."""
    last = _latest(reports)
    holders = [value for report in reports for value in report.holder]
    statement = sql.renew_together(len(reports)).format(table=table_of(last.source))
    should_stop = await is_paused(last.source, last.at, last.rules)
    async with transaction() as connection:
        renewed = await connection.execute(statement, (last.lease, last.at.now, *holders))
        if renewed != len(reports):
            await connection.rollback()
            return None
    return [Renewal(1, last.lease, should_stop) for _ in reports]


async def complete_together(reports: Sequence[Report]) -> list[Completion] | None:
    """The crawl of each keyword has ended well. None when one of the reports does not apply."""
    last = _latest(reports)
    ids = [report.keyword_id for report in reports]
    messages = [value for report in reports for value in (report.keyword_id, report.error_message)]
    holders = [value for report in reports for value in report.holder]
    table = table_of(last.source)
    async with transaction() as connection:
        completed, counts = await connection.run(
            Statement(
                sql.complete_together(len(reports)).format(table=table),
                (*messages, last.at.now, last.at.now, *holders),
            ),
            Statement(sql.counts_of(len(reports)).format(table=table), ids),
        )
        if completed.matched != len(reports):
            await connection.rollback()
            return None
    found = {keyword_id: (pages, tries) for keyword_id, pages, tries in counts.rows}
    log_end(last.source, Outcome.COMPLETED, found)
    return [Completion(True, CrawlStatus.COMPLETED, found[report.keyword_id][1]) for report in reports]


def log_pages(reports: Sequence[Report]) -> None:
    """One line for all of them: writing it costs more than their share of the statement."""
    pages = " ".join(f"keyword={report.keyword_id} page={report.page} jobs={report.jobs_found}" for report in reports)
    logger.info("page done source=%s %s", reports[0].source, pages)


def log_end(source: Source, outcome: Outcome, ended: Mapping[int, tuple[int, int]]) -> None:
    """One line for all that ended together; `ended` has pages and failed tries by keyword."""
    keywords = " ".join(f"keyword={number} pages={pages} tries={tries}" for number, (pages, tries) in ended.items())
    logger.info("crawl %s source=%s %s", outcome, source, keywords)


def _latest(reports: Sequence[Report]) -> Report:
    """The reports count as made at the moment of the last of them."""
    return max(reports, key=lambda report: report.at.now)

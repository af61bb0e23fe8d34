"""A keyword's row as the statements read it, and what it means at a given moment. Nothing here asks the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self

from app.core.clock import Moment
from app.core.database import as_date, as_time
from app.core.enums import CrawlStatus, KeywordState


@dataclass(frozen=True, slots=True)
class KeywordRow:
    """The columns of `keyword_sql.COLUMNS`, in their order."""

    id: int
    city: str
    job: str
    crawl_status: CrawlStatus
    last_requested_date: date | None
    last_completed_page: int
    claim_page: int
    total_pages: int | None
    jobs_found: int
    retry_count: int
    retry_at: datetime | None
    claim_token: str
    crawler_id: str | None
    lease_expires_at: datetime | None
    error_message: str
    crawl_started_at: datetime | None
    crawl_finished_at: datetime | None

    @classmethod
    def read(cls, row: Sequence[Any]) -> Self:
        values = list(row)
        values[3] = CrawlStatus(values[3])
        values[4] = as_date(values[4])
        for position in (10, 13, 15, 16):
            values[position] = as_time(values[position])
        return cls(*values)

    @property
    def brought_a_page(self) -> bool:
        """Whether the current claim has finished a page."""
        return self.last_completed_page > self.claim_page

    def is_alive(self, now: datetime) -> bool:
        return (
            self.crawl_status is CrawlStatus.CRAWLING
            and self.lease_expires_at is not None
            and self.lease_expires_at > now
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a claim of a keyword begins: all of it zero for a fresh claim."""

    crawl_status: CrawlStatus
    fresh: bool
    last_completed_page: int = 0
    total_pages: int | None = None
    jobs_found: int = 0
    retry_count: int = 0
    error_message: str = ""


def standing(row: KeywordRow, at: Moment) -> Standing:
    """What a claim at this moment would find. A stale crawl stands as the sweep would leave it."""
    if not _counts_today(row, at):
        return Standing(CrawlStatus.IDLE, fresh=True)
    status, retry_count = row.crawl_status, row.retry_count
    if status is CrawlStatus.CRAWLING:
        status, retry_count = _after_silence(row)
    return Standing(
        status, False, row.last_completed_page, row.total_pages, row.jobs_found, retry_count, row.error_message
    )


def is_claimable(row: KeywordRow, at: Moment, max_retries: int) -> bool:
    """Whether nobody is at work on the keyword and its day is not over; a running back-off does not matter."""
    if row.is_alive(at.now) or (row.last_requested_date or date.min) > at.today:
        return False
    found = standing(row, at)
    if found.crawl_status is CrawlStatus.FAILED:
        return found.retry_count < max_retries
    return found.fresh or found.crawl_status is CrawlStatus.PARTIAL


def claim_order(row: KeywordRow, at: Moment) -> tuple[int, str, int]:
    """Sorts claimable rows: partial, failed, fresh; in each the longest waiting first, then by id."""
    found = standing(row, at)
    if found.fresh:
        return 3, str(row.last_requested_date or ""), row.id
    stale = row.crawl_status is CrawlStatus.CRAWLING
    waiting_since = row.lease_expires_at if stale else row.retry_at
    first = stale or found.crawl_status is CrawlStatus.PARTIAL
    return (1 if first else 2), str(waiting_since or ""), row.id


def past_state(row: KeywordRow) -> tuple[KeywordState, int]:
    """How the crawl of an earlier day ended, with its failed tries, for the history."""
    if row.crawl_status is CrawlStatus.IDLE:
        return KeywordState.UNTRACKED, row.retry_count
    if row.crawl_status is CrawlStatus.CRAWLING:
        status, retry_count = _after_silence(row)
        return KeywordState(status), retry_count
    return KeywordState(row.crawl_status), row.retry_count


def _counts_today(row: KeywordRow, at: Moment) -> bool:
    if row.last_requested_date is None:
        # Set by hand: people who free a keyword that way do not think of the date.
        return row.crawl_status is CrawlStatus.PARTIAL
    return row.last_requested_date >= at.today


def _after_silence(row: KeywordRow) -> tuple[CrawlStatus, int]:
    if row.brought_a_page:
        return CrawlStatus.PARTIAL, row.retry_count
    return CrawlStatus.FAILED, row.retry_count + 1

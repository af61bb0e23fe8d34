"""The work list itself: adding keywords and looking through them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime

from tortoise.expressions import Q

from app.core.clock import Moment
from app.core.database import execute, fetch, guarded, retried
from app.core.enums import CrawlStatus, KeywordState, Source
from app.core.errors import Contention, DuplicateRow
from app.models import keyword_sql as sql
from app.models.keyword import KEYWORD_MODELS, BaseKeyword, table_of

INSERT_BATCH = 200

Name = tuple[str, str]  # city, job


@dataclass(frozen=True, slots=True)
class Item:
    """A keyword as lists show it; `status` is what it is today."""

    id: int
    source: Source
    city: str
    job: str
    status: KeywordState
    last_requested_date: date | None
    last_requested_at: datetime | None
    last_completed_page: int
    total_pages: int | None
    jobs_found: int
    crawl_started_at: datetime | None
    crawl_finished_at: datetime | None
    crawler_id: str | None
    lease_expires_at: datetime | None
    error_message: str
    retry_count: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Item]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Added:
    created: int
    existing: int


async def create_keyword(source: Source, name: Name, at: Moment) -> tuple[Item, bool]:
    """The keyword of this name, and whether it was created just now."""
    added = await create_keywords(source, [name], at)
    city, job = name
    async with guarded():
        keyword = await KEYWORD_MODELS[source].get(city=city, job=job)
    return _item(source, keyword, at), added.created == 1


async def create_keywords(source: Source, names: Sequence[Name], at: Moment) -> Added:
    """Add those of these names that are not there yet. Each batch is added as a whole; adding again adds nothing."""
    distinct = list(dict.fromkeys(names))
    created = 0
    for start in range(0, len(distinct), INSERT_BATCH):
        created += await _create_batch(source, distinct[start : start + INSERT_BATCH], at)
    return Added(created, len(names) - created)


@retried
async def _create_batch(source: Source, names: list[Name], at: Moment) -> int:
    existing = sql.EXISTING.format(table=table_of(source), names=" OR ".join([sql.THIS_NAME] * len(names)))
    there = {(city, job) for city, job in await fetch(existing, [part for name in names for part in name])}
    missing = [name for name in names if name not in there]
    if not missing:
        return 0
    insert = sql.INSERT.format(table=table_of(source), rows=", ".join(["(?, ?, ?, ?)"] * len(missing)))
    try:
        return await execute(insert, [value for city, job in missing for value in (city, job, at.now, at.now)])
    except DuplicateRow:
        # Neither IGNORE (hides other errors) nor ON DUPLICATE KEY (its row count does not tell) would count right.
        raise Contention("somebody else added one of these keywords") from None


async def list_keywords(
    source: Source, at: Moment, *, status: KeywordState | None = None, city: str | None = None, job: str | None = None,
    crawler_id: str | None = None, error: str | None = None, after_id: int = 0, limit: int = 50,
) -> Page:  # fmt: skip
    """Keywords by id. City, job and crawler match exactly, `error` is a part of the message."""
    query = KEYWORD_MODELS[source].filter(id__gt=after_id).order_by("id").limit(limit + 1)
    exact = {"city": city, "job": job, "crawler_id": crawler_id}
    query = query.filter(**{name: value for name, value in exact.items() if value is not None})
    if error is not None:
        query = query.filter(error_message__contains=error)
    if status is not None:
        query = query.filter(_is_today(status, at))
    async with guarded():
        keywords = await query
    items = [_item(source, keyword, at) for keyword in keywords[:limit]]
    return Page(items, str(items[-1].id) if len(keywords) > limit else None)


def _is_today(status: KeywordState, at: Moment) -> Q:
    """The rows whose state of today is `status`, as `_state` tells it of one row."""
    alive = Q(crawl_status=CrawlStatus.CRAWLING, lease_expires_at__gt=at.now)
    of_today = Q(last_requested_date=at.today)
    undated_partial = Q(crawl_status=CrawlStatus.PARTIAL, last_requested_date__isnull=True)
    if status is KeywordState.IDLE:
        unasked = Q(last_requested_date__isnull=True) | Q(last_requested_date__lt=at.today)
        return unasked & ~alive & ~undated_partial
    if status is KeywordState.PARTIAL:
        return (Q(crawl_status=CrawlStatus.PARTIAL) & of_today) | undated_partial
    if status is KeywordState.CRAWLING:
        return Q(crawl_status=CrawlStatus.CRAWLING) & (of_today | alive)
    stored = CrawlStatus.IDLE if status is KeywordState.UNTRACKED else CrawlStatus(status)
    return Q(crawl_status=stored) & of_today


def _state(keyword: BaseKeyword, at: Moment) -> KeywordState:
    lease = keyword.lease_expires_at
    alive = keyword.crawl_status is CrawlStatus.CRAWLING and lease is not None and lease > at.now
    undated_partial = keyword.crawl_status is CrawlStatus.PARTIAL and keyword.last_requested_date is None
    if keyword.last_requested_date != at.today and not alive and not undated_partial:
        return KeywordState.IDLE
    return KeywordState.UNTRACKED if keyword.crawl_status is CrawlStatus.IDLE else KeywordState(keyword.crawl_status)


def _item(source: Source, keyword: BaseKeyword, at: Moment) -> Item:
    stored = {field.name for field in fields(Item)} - {"source", "status"}
    return Item(source=source, status=_state(keyword, at), **{name: getattr(keyword, name) for name in stored})

"""How a day stands, by source."""

from dataclasses import dataclass
from datetime import date, datetime

from app.controllers.closures import closure
from app.core.clock import Moment
from app.core.database import fetch
from app.core.enums import CrawlStatus, KeywordState, Source
from app.models import keyword_sql as sql
from app.models.keyword import table_of


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one business day. used + unused = total, and the counts by state sum to used."""

    date: date
    total: int
    used: int
    unused: int
    crawl_status: dict[KeywordState, int]
    paused: bool
    cooling_down: bool
    closed_because: str | None
    closed_until: datetime | None


async def get_stats(source: Source, at: Moment, on_date: date | None = None) -> Stats:
    """Counts of `on_date` (today by default): what the keywords' rows say of it, and the history for past days.

    `total` is the number of keywords now, whatever the date, but never less than were used that day: some may have been
    deleted since.
    """
    day = on_date or at.today
    counts = dict.fromkeys(KeywordState, 0)
    total = 0
    for state, count in await fetch(sql.COUNTS.format(table=table_of(source)), (day, source, day)):
        if state == "total":
            total = count
        else:
            # A row that is idle although it has a date was taken by an old spider.
            counts[KeywordState.UNTRACKED if state == CrawlStatus.IDLE else KeywordState(state)] += count
    del counts[KeywordState.IDLE]
    used = sum(counts.values())
    total = max(total, used)
    closed = await closure(source, at)
    paused, cooling_down = (bool(closed and closed.kind == kind) for kind in ("paused", "cooling down"))
    why, until = (str(closed), closed.until) if closed else (None, None)
    return Stats(day, total, used, total - used, counts, paused, cooling_down, why, until)

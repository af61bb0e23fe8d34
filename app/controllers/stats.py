"""How a day stands, by source."""

from dataclasses import dataclass
from datetime import date

from app.controllers.pauses import active_pause
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
    paused = bool(await active_pause(source, at))
    return Stats(day, total, used, total - used, counts, paused)

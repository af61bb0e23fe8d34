"""Claims that end without a word from their spider."""

from app.core.clock import Moment
from app.core.database import execute, fetch, retried
from app.core.enums import Source
from app.core.settings import CrawlRules
from app.models import keyword_sql as sql
from app.models.keyword import table_of

SWEEP_BATCH = 500


@retried
async def release_stale(source: Source, at: Moment, rules: CrawlRules) -> int:
    """The sweep: end each claim of a source whose lease has run out, and return how many there were.

    Any number of processes may do this at once; claims do not wait for it.
    """
    message = f"no sign of life for {rules.lease.total_seconds() / 60:g} min"
    values = silence_values(at, rules, message)
    swept = 0
    while True:
        stale = [row[0] for row in await fetch(sql.STALE.format(table=table_of(source)), (at.now, SWEEP_BATCH))]
        if stale:
            claims = sql.STALE_CLAIMS.format(ids=sql.is_one_of(len(stale)))
            statement = sql.ENDED_IN_SILENCE.format(table=table_of(source), lease="", claims=claims)
            swept += await execute(statement, (*values, *stale, at.now))
        if len(stale) < SWEEP_BATCH:
            return swept


def silence_values(at: Moment, rules: CrawlRules, message: str) -> tuple[object, ...]:
    """The parameters of ENDED_IN_SILENCE before those of its WHERE."""
    without_page = f"{message}, no page finished"
    return at.now, rules.max_retries, at.tomorrow, at.now + rules.retry_backoff, message, without_page, at.now, at.now

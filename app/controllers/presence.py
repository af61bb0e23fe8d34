"""The service's own sign of life, and the grace that crawls get after the service was away.

A spider cannot report to a service that is down. Leases that ran out meanwhile say nothing about the spider, so they
are prolonged once; a spider that is really dead loses its keyword a few minutes later than usual.
"""

import logging
from datetime import timedelta

from app.core.clock import Moment
from app.core.database import as_time, execute, fetch, is_mysql, retried, transaction
from app.core.database_errors import interruption
from app.core.enums import Source
from app.core.errors import DuplicateRow
from app.core.settings import CrawlRules
from app.models import keyword_sql, service_sql
from app.models.keyword import table_of

logger = logging.getLogger(__name__)

CLOCK_TOLERANCE = timedelta(seconds=5)


@retried
async def note_alive(at: Moment, rules: CrawlRules) -> None:
    """Note that the service lives now; when nothing noted it for longer than the grace, prolong the leases first.

    1. Read when the service was last alive.
    2. Move that on to now, if nobody else has done it meanwhile.
    3. Whoever moved it over a gap longer than the grace prolongs the leases, in the same transaction.
    """
    rows = await fetch(service_sql.LAST_ALIVE)
    last = as_time(rows[0][0]) if rows else None
    if last is None:
        await _note_first(at)
        return
    if last >= at.now:
        return
    away = at.now - last
    async with transaction() as connection:
        moved = await connection.execute(service_sql.STILL_ALIVE, (at.now, last))
        if not moved or away <= rules.outage_grace:
            return
        end = at.now + rules.outage_grace
        for source in Source:
            statement = keyword_sql.PROLONG_AFTER_OUTAGE.format(table=table_of(source))
            prolonged = await connection.execute(statement, (end, last, end))
            if prolonged:
                logger.warning("service was away for %s: %d leases of %s prolonged", away, prolonged, source)


async def _note_first(at: Moment) -> None:
    try:
        await execute(service_sql.FIRST_ALIVE, (at.now,))
    except DuplicateRow:
        logger.debug("another process noted the first sign of life")


async def note_alive_after_interruption(at: Moment, rules: CrawlRules) -> None:
    """Before a claim: if the database was away since the last sign of life, give the grace before anybody is robbed."""
    if interruption.seen:
        await note_alive(at, rules)
        interruption.seen = False


async def warn_of_clock_skew(at: Moment) -> None:
    """Compare our clock with the database server's; SQLite has none of its own."""
    if not is_mysql():
        return
    theirs = as_time((await fetch(service_sql.DATABASE_TIME_MYSQL))[0][0])
    if theirs and abs(theirs - at.now) > CLOCK_TOLERANCE:
        logger.warning("this machine's clock is %s off the database server's: set both by NTP", at.now - theirs)


async def warn_of_stale_reads() -> None:
    """On Galera, a report that reaches another node than its claim did must find the claim there."""
    if not is_mysql():
        return
    settings: dict[str, str] = dict(await fetch(service_sql.GALERA_SETTINGS_MYSQL))
    if settings.get("wsrep_on") == "ON" and settings.get("wsrep_sync_wait") != "7":
        logger.warning("the database is a Galera cluster with wsrep_sync_wait other than 7: set it to 7 on each node")

"""Why a source hands out nothing for a while: an operator paused it, or it cools down after blocks.

When a board blocks several crawlers within a short time, asking on with others only gets them blocked too. So the
source rests: a minute at first, twice as long each time, up to a day, and forgiven after half an hour without a block.
"""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core.clock import Moment
from app.core.database import Row, Statement, as_time, execute, fetch, retried
from app.core.enums import Source
from app.core.errors import DuplicateRow
from app.core.settings import CooldownRules
from app.models import service_sql

logger = logging.getLogger(__name__)

BLOCKED_CRAWLERS = 2  # one may have a bad cookie; two have met the board's guard
JITTER = 0.1
REASON_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class Closure:
    """`until` is None for a pause that somebody has to end."""

    kind: str
    reason: str
    until: datetime | None

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


async def closure(source: Source, at: Moment) -> Closure | None:
    """Why the source hands out nothing now."""
    return first_closure(await fetch(*closure_query(source, at)))


def closure_query(source: Source, at: Moment) -> Statement:
    return Statement(service_sql.CLOSURES, (source, at.now, source, at.now))


def first_closure(rows: Sequence[Row]) -> Closure | None:
    """Of what `closure_query` read; a pause goes before a cool-down."""
    closures = [Closure(kind, reason, as_time(until)) for kind, reason, until in rows]
    return min(closures, key=lambda each: each.kind != "paused", default=None)


async def note_block(source: Source, crawler_id: str, reason: str, at: Moment, rules: CooldownRules) -> None:
    """A crawler was blocked. When it is not the only one of late, the source cools down. May raise Contention."""
    if not rules.enabled:
        return
    since = at.now - rules.window
    await execute(service_sql.FORGET_BLOCKS, (source, since))
    await execute(service_sql.BLOCKED, (source, crawler_id, at.now))
    crawlers = (await fetch(service_sql.BLOCKED_CRAWLERS, (source, since)))[0][0]
    if crawlers < BLOCKED_CRAWLERS:
        return
    if await _cool_down(source, f"{crawlers} crawlers blocked, last: {reason}"[:REASON_LENGTH], at, rules):
        await execute(service_sql.FORGET_BLOCKS, (source, at.now))


async def _cool_down(source: Source, reason: str, at: Moment, rules: CooldownRules) -> bool:
    """Begin a cool-down unless one is under way or somebody else begins it; whether it was us."""
    rows = await fetch(service_sql.COOLDOWN, (source,))
    last_until = as_time(rows[0][1]) if rows else None
    if last_until and last_until > at.now:
        return False
    in_a_row = last_until is not None and at.now - last_until < rules.forgiven
    strikes = rows[0][0] + 1 if in_a_row else 1
    length = min(rules.first * 2 ** min(strikes - 1, 30) * random.uniform(1, 1 + JITTER), rules.longest)
    until = at.now + length
    if last_until:
        begun = await execute(service_sql.NEXT_COOLDOWN, (strikes, until, reason, source, last_until))
    else:
        begun = await _first(source, strikes, until, reason)
    if begun:
        logger.warning("%s cools down for %.0f s (%d. in a row): %s", source, length.total_seconds(), strikes, reason)
    return bool(begun)


async def _first(source: Source, strikes: int, until: datetime, reason: str) -> int:
    try:
        return await execute(service_sql.FIRST_COOLDOWN, (strikes, until, reason, source))
    except DuplicateRow:
        return 0


@retried
async def end_cooldown(source: Source) -> None:
    await execute(service_sql.END_COOLDOWN, (source,))

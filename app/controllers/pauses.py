"""Operators pause a source: its keywords are not handed out, and spiders are told to stop at the next page."""

import logging
from asyncio import AbstractEventLoop, get_running_loop
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from app.core.clock import Moment
from app.core.database import as_time, execute, fetch, retried
from app.core.enums import Source
from app.core.settings import CrawlRules
from app.models import service_sql

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pause:
    reason: str
    until: datetime | None


@retried
async def pause(source: Source, at: Moment, reason: str, until: datetime | None) -> Pause:
    await execute(service_sql.PAUSE, (source, reason, until, at.now))
    _known_pauses(get_running_loop()).pop(source, None)
    logger.info("paused source=%s until=%s reason=%r", source, until or "resumed", reason)
    return Pause(reason, until)


@retried
async def resume(source: Source) -> None:
    resumed = await execute(service_sql.RESUME, (source,))
    _known_pauses(get_running_loop()).pop(source, None)
    if resumed:
        logger.info("resumed source=%s", source)


async def is_paused(source: Source, at: Moment, rules: CrawlRules) -> bool:
    """Whether spiders of this source have to stop; another process's pause is seen after `rules.shared_read`."""
    loop = get_running_loop()
    known = _known_pauses(loop)
    if source not in known or loop.time() - known[source].read_at > rules.shared_read.total_seconds():
        rows = await fetch(service_sql.PAUSED_UNTIL, (source,))
        known[source] = KnownPause(loop.time(), bool(rows), as_time(rows[0][0]) if rows else None)
    found = known[source]
    return found.paused and (found.until is None or found.until > at.now)


@dataclass(frozen=True, slots=True)
class KnownPause:
    read_at: float  # by the event loop's clock
    paused: bool
    until: datetime | None


@lru_cache(maxsize=1)
def _known_pauses(loop: AbstractEventLoop) -> dict[Source, KnownPause]:
    return {}

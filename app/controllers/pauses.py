"""Operators pause a source: its keywords are not handed out, and spiders are told to stop at the next page."""

import logging
from dataclasses import dataclass
from datetime import datetime

from app.core.clock import Moment
from app.core.database import as_time, execute, fetch, retried
from app.core.enums import Source
from app.models import service_sql

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pause:
    reason: str
    until: datetime | None


@retried
async def pause(source: Source, at: Moment, reason: str, until: datetime | None) -> Pause:
    await execute(service_sql.PAUSE, (source, reason, until, at.now))
    logger.info("paused source=%s until=%s reason=%r", source, until or "resumed", reason)
    return Pause(reason, until)


@retried
async def resume(source: Source) -> None:
    if await execute(service_sql.RESUME, (source,)):
        logger.info("resumed source=%s", source)


async def active_pause(source: Source, at: Moment) -> Pause | None:
    rows = await fetch(service_sql.ACTIVE_PAUSE, (source, at.now))
    return Pause(rows[0][0], as_time(rows[0][1])) if rows else None

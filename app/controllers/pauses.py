"""Operators pause a source: its keywords are not handed out, and spiders are told to stop at the next page."""

import logging
from dataclasses import dataclass
from datetime import datetime

from app.core.clock import Moment
from app.core.database import Statement, execute, retried
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


def pause_query(source: Source, at: Moment) -> Statement:
    """Reads the pause that holds now: one row of reason and end, or none."""
    return Statement(service_sql.ACTIVE_PAUSE, (source, at.now))

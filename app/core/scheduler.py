"""Work that recurs. Every server process runs every job, so each job must be harmless when several do it at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from app.core.errors import Contention, ServiceError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    seconds: int
    run: Callable[[], Awaitable[None]]


@asynccontextmanager
async def running_scheduler(jobs: list[Job]) -> AsyncIterator[None]:
    """Run the jobs for as long as the block lasts; at its end a job under way is finished first."""
    scheduler = AsyncIOScheduler(timezone="UTC")
    at_work: set[asyncio.Lock] = set()
    for job in jobs:
        lock = asyncio.Lock()
        at_work.add(lock)
        trigger = IntervalTrigger(seconds=job.seconds, jitter=min(job.seconds // 10, 30) or None)
        scheduler.add_job(_tolerant(job, lock), trigger, id=job.name, coalesce=True, max_instances=1)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.pause()
        for lock in at_work:
            await lock.acquire()  # shutdown() would cancel a job in the middle of its work
        scheduler.shutdown(wait=False)


def _tolerant(job: Job, lock: asyncio.Lock) -> Callable[[], Awaitable[None]]:
    """One failure must not end the series, and is worth one line: the next run comes by itself."""

    async def run() -> None:
        async with lock:
            try:
                await job.run()
            except (ServiceError, Contention) as error:
                logger.warning("%s will be tried again in %d s: %s", job.name, job.seconds, error)
            except Exception as error:
                logger.error("%s failed: %s", job.name, type(error).__name__)

    return run

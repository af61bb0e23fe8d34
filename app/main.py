"""The one place where everything is put together."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import date

from async_lru import alru_cache
from fastapi import FastAPI
from fastapi.responses import RedirectResponse

from app.api import health
from app.api.connections import ClosedWhileDraining
from app.api.fast_calls import FastCalls
from app.api.problem_details import add_error_handlers
from app.api.v1.keyword import keyword, management
from app.controllers.presence import note_alive, warn_of_clock_skew, warn_of_stale_reads
from app.controllers.silence import release_stale
from app.controllers.stats import Stats, get_stats
from app.core.clock import Clock
from app.core.draining import Drain
from app.core.enums import Source
from app.core.init_app import open_database
from app.core.scheduler import Job, running_scheduler
from app.core.settings import Settings, load_settings

API = "/api/v1"

logger = logging.getLogger(__name__)


def create_app(settings: Settings | None = None, clock: Clock | None = None) -> FastAPI:
    """The application for these settings (from the environment by default) on this clock (the machine's by default)."""
    settings = settings or load_settings()
    clock = clock or Clock(settings.zone)
    drain = Drain()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_database(settings):
            await note_alive(clock.moment(), settings.crawl_rules)
            await warn_of_clock_skew(clock.moment())
            await warn_of_stale_reads()
            with drain.begun_by_sigterm(settings.drain_seconds):
                async with running_scheduler(recurring_jobs(settings, clock)):
                    yield

    app = FastAPI(
        title="jobdata",
        summary="Hands job-board keywords to spiders one at a time, and lets a killed crawl go on at its next page.",
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.crawl_rules = settings.crawl_rules
    app.state.clock = clock
    app.state.drain = drain
    app.state.day_counts = shared_stats(clock, settings.shared_read_seconds)
    calls = {(method, f"{API}{path}"): endpoint for (method, path), endpoint in keyword.FAST_CALLS.items()}
    app.add_middleware(FastCalls, state=app.state, calls=calls)
    add_error_handlers(app)
    app.add_middleware(ClosedWhileDraining, drain=drain)
    app.include_router(health.router)
    app.include_router(keyword.router, prefix=API)
    app.include_router(management.router, prefix=API)

    @app.get("/", include_in_schema=False)
    async def home() -> RedirectResponse:
        return RedirectResponse("/docs")

    return app


def shared_stats(clock: Clock, seconds: int) -> Callable[[Source, date | None], Awaitable[Stats]]:
    """Counts of a source's day, for as many people as watch it at the cost of one who asks every so many seconds."""

    async def stats(source: Source, on_date: date | None) -> Stats:
        return await get_stats(source, clock.moment(), on_date)

    return alru_cache(maxsize=64, ttl=seconds)(stats) if seconds else stats


def recurring_jobs(settings: Settings, clock: Clock) -> list[Job]:
    rules = settings.crawl_rules

    async def sign_of_life() -> None:
        await note_alive(clock.moment(), rules)

    async def stale_crawl_cleanup() -> None:
        at = clock.moment()
        await note_alive(at, rules)  # first: after an outage the leases have to be prolonged, not swept
        await warn_of_clock_skew(at)
        swept = {source: await release_stale(source, at, rules) for source in Source}
        if any(swept.values()):
            counts = " ".join(f"{source}={count}" for source, count in swept.items())
            logger.info("stale crawls ended: %s", counts)

    return [
        Job("sign_of_life", settings.sign_of_life_seconds, sign_of_life),
        Job("stale_crawl_cleanup", settings.stale_cleanup_seconds, stale_crawl_cleanup),
    ]

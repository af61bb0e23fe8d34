"""The real service in a process of its own, with a clock that a test moves: `python -m tests.stepped_service`.

Settings are those of the service. `POST /_test/clock` with {"now": "2026-03-02T10:00:00+08:00"} stops the clock there,
with {"offset": -300} lets it run so many seconds off the machine's; `POST /_test/sweep` does what the scheduler does
every ten minutes, and answers how many claims it ended.
"""

from datetime import UTC, datetime, timedelta

import uvicorn
from fastapi import FastAPI

from app.controllers.silence import release_stale
from app.core.clock import Clock, system_time
from app.core.enums import Source
from app.core.logs import log_config
from app.core.settings import load_settings
from app.main import create_app


class SteppedTime:
    """A clock that stands where it was stopped, or runs off the machine's."""

    def __init__(self) -> None:
        self.stopped_at: datetime | None = None
        self.offset = timedelta()

    def __call__(self) -> datetime:
        return self.stopped_at or system_time() + self.offset

    def set(self, told: dict[str, str | float]) -> None:
        if "now" in told:
            self.stopped_at = datetime.fromisoformat(str(told["now"])).astimezone(UTC)
        else:
            self.stopped_at, self.offset = None, timedelta(seconds=float(told["offset"]))


def stepped_app() -> FastAPI:
    settings = load_settings()
    time = SteppedTime()
    app = create_app(settings, Clock(settings.zone, time))

    @app.post("/_test/clock", include_in_schema=False)
    async def clock(told: dict[str, str | float]) -> str:
        time.set(told)
        return time().isoformat()

    @app.post("/_test/sweep", include_in_schema=False)
    async def sweep() -> int:
        at = app.state.clock.moment()
        return sum([await release_stale(source, at, settings.crawl_rules) for source in Source])

    return app


def main() -> None:
    settings = load_settings()
    config = log_config(settings.log_level, access_log=settings.access_log)
    uvicorn.run(stepped_app(), host=settings.host, port=settings.port, log_config=config, timeout_graceful_shutdown=20)


if __name__ == "__main__":
    main()

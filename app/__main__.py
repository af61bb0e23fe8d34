"""`python -m app`: prepare the database, then serve."""

import asyncio
import errno
import logging
import logging.config
import signal
import socket
import sys

import uvicorn

from app.core.errors import ServiceError, StartupError
from app.core.init_app import open_database
from app.core.logs import log_config
from app.core.settings import Settings, load_settings

logger = logging.getLogger("app")

FINISH_SECONDS = 20  # for the requests that are under way at the stop


def main() -> int:
    """Serve until told to stop. Exit codes: 0 stopped, 1 database or address are not to be had, 2 a wrong setting."""
    try:
        settings = load_settings()
    except StartupError as error:
        print(f"jobdata: {error}", file=sys.stderr)
        return 2
    logging.config.dictConfig(log_config(settings.log_level, access_log=settings.access_log))
    try:
        check_address(settings)
        print(f"jobdata: database {settings.database_name}", file=sys.stderr)
        if settings.sqlite_file and settings.workers > 1:
            logger.warning("WORKERS=%d with SQLite: they wait for each other at each write; set 1", settings.workers)
        # Once here, before any worker starts: a failure is one line instead of a traceback from each of them.
        asyncio.run(prepare(settings))
    except (StartupError, ServiceError) as error:
        print(f"jobdata: {error}", file=sys.stderr)
        return 1
    # uvicorn stops first and then raises the signal again, which would end us with that signal's exit code.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(settings)
    return 0


def check_address(settings: Settings) -> None:
    """Raises StartupError where we cannot listen: each worker would say so in an error of its own."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        reason = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
        raise StartupError(
            f"cannot listen on {settings.host} port {settings.port} ({reason}): set HOST or PORT"
        ) from None


async def prepare(settings: Settings) -> None:
    async with open_database(settings):
        pass


def serve(settings: Settings) -> None:
    print(f"jobdata: http://{settings.host}:{settings.port} (API at /docs)", file=sys.stderr)
    uvicorn.run(
        "app.main:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=log_config(settings.log_level, access_log=settings.access_log),
        timeout_graceful_shutdown=FINISH_SECONDS,
    )


if __name__ == "__main__":
    sys.exit(main())

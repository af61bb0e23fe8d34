"""Where log lines go and what they look like."""

from typing import Any

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Their INFO is chatter, and Tortoise's DEBUG repeats statements with their values.
QUIET = ("tortoise", "apscheduler", "aiomysql", "aiosqlite", "filelock", "asyncio")


def log_config(level: str, *, access_log: bool) -> dict[str, Any]:
    """A logging configuration for this process and, through uvicorn, for each worker."""
    loggers: dict[str, Any] = {name: {"level": "WARNING"} for name in QUIET}
    loggers["uvicorn.access"] = {"level": "INFO" if access_log else "WARNING"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": FORMAT}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": level, "handlers": ["stderr"]},
        "loggers": loggers,
    }

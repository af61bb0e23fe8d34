"""Another program on the same database, which holds locks and makes changes in the middle of the service's work."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from typing import TypeVar

from app.core import database
from tests import mariadb
from tests.service.conftest import TABLES

T = TypeVar("T")


@contextmanager
def locked_by_another(url: str, *changes: str) -> Iterator[Callable[[], None]]:
    """The other program holds the locks of all that is written and made changes; gives the function that commits."""
    if url.startswith("mysql"):
        with closing(mariadb.connect(url)) as other, other.cursor() as cursor:
            other.begin()
            for statement in (*(f"SELECT * FROM {table} FOR UPDATE" for table in TABLES), *changes):
                cursor.execute(statement)
            yield other.commit
            other.commit()
    else:
        with closing(sqlite3.connect(url.removeprefix("sqlite://"), isolation_level=None)) as other:
            for statement in ("BEGIN IMMEDIATE", *changes):
                other.execute(statement)
            yield other.commit
            other.commit()


async def wait_for_locks(seconds: int) -> None:
    """How long each connection of the service waits for a lock; as the service sets it: 5."""
    mysql = database.is_mysql()
    statement = f"SET SESSION innodb_lock_wait_timeout = {seconds}" if mysql else f"PRAGMA busy_timeout = {seconds}000"
    size = getattr(database.database_client(), "pool_maxsize", 1)
    async with AsyncExitStack() as stack:
        for _ in range(size):
            connection = await stack.enter_async_context(database.leased())
            await connection.execute(statement)


def waiting_connection(url: str) -> int:
    """The connection that waits for a lock in this database, once there is one (MariaDB)."""
    waiting = (
        "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx JOIN information_schema.processlist"
        " ON id = trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()"
    )
    for _ in range(100):
        for (thread,) in mariadb.run_sql(url, waiting):
            assert isinstance(thread, int)
            return thread
        time.sleep(0.2)  # the server renews this table only when nobody has read it for 0.1 s
    raise TimeoutError("no statement waits")


async def until_it_waits(url: str, task: "asyncio.Task[T]") -> None:
    """Until the task waits for a lock. SQLite does not tell; there a moment has to do, and no test depends on it."""
    if url.startswith("mysql"):
        await asyncio.to_thread(waiting_connection, url)
    else:
        await asyncio.wait({task}, timeout=0.1)


class AtLog(logging.Handler):
    """Does something when the service logs a certain line, in the middle of its work."""

    def __init__(self, words: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._words = words
        self._act = act
        self.times = 0

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self.times += 1
            self._act()


@contextmanager
def at_log(words: str, act: Callable[[], object]) -> Iterator[AtLog]:
    logger, handler = logging.getLogger("app"), AtLog(words, act)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def locked_until_first_retry(url: str, *changes: str) -> Iterator[AtLog]:
    """The other program commits when the service logs that it tries again."""
    with locked_by_another(url, *changes) as commit, at_log("tried again", commit) as retries:
        yield retries

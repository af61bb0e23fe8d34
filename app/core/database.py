"""The one way to the database: configuration, leased connections, transactions, retries.

Statements are written once, for SQLite, MySQL and MariaDB, with `?` for parameters. Datetimes go in aware and in UTC.
"""

import asyncio
import logging
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from functools import lru_cache, wraps
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar

from pymysql import err as mysql_errors
from tortoise import Tortoise
from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.backends.base.config_generator import expand_db_url
from tortoise.exceptions import BaseORMException

from app.core.database_errors import translated
from app.core.errors import Contention, DatabaseUnavailable
from app.core.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")
Row = tuple[Any, ...]
Parameters = Sequence[Any]

logger = logging.getLogger(__name__)

MODELS = ["app.models.keyword", "app.models.service", "aerich.models"]
STATEMENT_SECONDS = 20.0  # beyond the lock wait below, so that a lock timeout is seen as one and tried again
MYSQL_SESSION = "SET time_zone = '+00:00', SESSION innodb_lock_wait_timeout = 5"
MYSQL_FOUND_ROWS = 2  # an UPDATE reports the rows that it matched, as SQLite does, not those whose values differ

ATTEMPTS = 8
RETRY_SECONDS = 12.0  # a lock that somebody keeps costs up to the lock wait at each attempt


def tortoise_config(settings: Settings) -> dict[str, Any]:
    """Tortoise's configuration for these settings; aerich reads the same."""
    connection = expand_db_url(settings.database_url.get_secret_value())
    credentials = connection["credentials"]
    if settings.sqlite_file is None:
        credentials.setdefault("maxsize", settings.database_pool_size)
        credentials.setdefault("connect_timeout", 5)
        credentials.setdefault("pool_recycle", 280)  # below the idle limits of common proxies
        credentials.update(client_flag=MYSQL_FOUND_ROWS, init_command=MYSQL_SESSION)
    else:
        # FULL: in WAL mode anything less may lose the last commits when the machine loses power.
        credentials.update(synchronous="FULL", busy_timeout=5000)
    return {
        "connections": {"default": connection},
        "apps": {"models": {"models": MODELS, "default_connection": "default"}},
        "use_tz": True,
        "timezone": "UTC",
    }


def database_client() -> BaseDBAsyncClient:
    return Tortoise.get_connection("default")


def is_mysql() -> bool:
    return database_client().capabilities.dialect == "mysql"


def writers() -> int:
    """How many batches of one kind are worth sending at the same time: SQLite has one connection here."""
    return 2 if is_mysql() else 1


class Statement(NamedTuple):
    sql: str
    parameters: Parameters = ()


class Result(NamedTuple):
    """What one statement gave: how many rows it matched, or the rows that it read."""

    matched: int
    rows: list[Row]


class Connection:
    """A leased driver connection."""

    BEGIN: ClassVar[Statement]

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._first: tuple[Statement, ...] = ()  # goes before the next statements, in the same trip

    async def run(self, *statements: Statement) -> list[Result]:
        """Run statements one after the other, in one trip to the server; the first error ends it."""
        first, self._first = self._first, ()
        return (await self._run([*first, *statements]))[len(first) :]

    async def _run(self, statements: Sequence[Statement]) -> list[Result]:
        raise NotImplementedError

    def begin(self) -> None:
        """Begin a transaction with the next statement."""
        self._first = (self.BEGIN,)

    async def commit(self) -> None:
        if not self._first:
            await self.run(Statement("COMMIT"))

    async def rollback(self) -> None:
        """Undo the transaction; what comes next is one of its own."""
        await self.run(Statement("ROLLBACK"))
        self.begin()

    async def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run a statement that changes rows and return how many it matched."""
        return (await self.run(Statement(sql, parameters)))[0].matched

    async def fetch(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run a query and return its rows."""
        return (await self.run(Statement(sql, parameters)))[0].rows

    async def abandon(self) -> None:
        """Give up whatever is under way on this connection, so that the next lease starts clean."""
        raise NotImplementedError


class MySQLConnection(Connection):
    BEGIN = Statement("BEGIN")

    async def _run(self, statements: Sequence[Statement]) -> list[Result]:
        sql = ";".join(mysql_placeholders(statement.sql) for statement in statements)
        parameters = [value for statement in statements for value in statement.parameters]
        results = []
        async with self._driver.cursor() as cursor:
            await cursor.execute(sql, parameters)
            while True:
                rows = list(await cursor.fetchall()) if cursor.description else []
                results.append(Result(int(cursor.rowcount), rows))
                if not await cursor.nextset():
                    return results

    async def abandon(self) -> None:
        # A half-read answer cannot be skipped. The pool drops a closed connection and the server rolls back.
        self._driver.close()


class SQLiteConnection(Connection):
    # IMMEDIATE: a reader that turns writer later would fail at once when another process has written.
    BEGIN = Statement("BEGIN IMMEDIATE")

    async def _run(self, statements: Sequence[Statement]) -> list[Result]:
        results = []
        for sql, parameters in statements:
            values = [sqlite_value(value) for value in parameters]
            # Each await is a trip to the driver's thread and back, which costs more than most statements.
            if sql.lstrip().startswith("SELECT"):
                rows = [tuple(row) for row in await self._driver.execute_fetchall(sql, values)]
                results.append(Result(len(rows), rows))
            else:
                cursor = await self._driver.execute(sql, values)
                rows = [tuple(row) for row in await cursor.fetchall()] if cursor.description else []
                results.append(Result(int(cursor.rowcount), rows))
        return results

    async def abandon(self) -> None:
        await asyncio.shield(self._driver.rollback())


@lru_cache(maxsize=256)
def mysql_placeholders(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


def sqlite_value(value: Any) -> Any:
    """The text form in which the ORM stores times and dates, so that both compare alike."""
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    return value


def as_time(value: Any) -> datetime | None:
    """An aware datetime from what either driver gives for a stored time."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if value is None or not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def as_date(value: Any) -> date | None:
    """A date from what either driver gives for a stored date."""
    if isinstance(value, str):
        return date.fromisoformat(value[:10])
    return value if isinstance(value, date) else None


@lru_cache(maxsize=1)
def _places(client: BaseDBAsyncClient) -> asyncio.Semaphore:
    # aiomysql 0.3.2 wakes nobody when a closed connection comes back to its pool, so that a task waiting there may
    # wait for ever after the server was lost. With a place for each connection, nobody waits in the pool.
    return asyncio.Semaphore(getattr(client, "pool_maxsize", 1))


@asynccontextmanager
async def guarded() -> AsyncIterator[BaseDBAsyncClient]:
    """Wait for a free connection, never for ever, and turn the errors of driver and ORM inside the block into ours."""
    client = database_client()
    try:
        async with asyncio.timeout(STATEMENT_SECONDS), _places(client):
            yield client
    except (mysql_errors.MySQLError, sqlite3.Error, BaseORMException, OSError) as error:
        raise translated(error) from error


@asynccontextmanager
async def leased() -> AsyncIterator[Connection]:
    """Lease a connection for single statements, each its own transaction."""
    async with guarded() as client, client.acquire_connection() as driver:
        connection = MySQLConnection(driver) if client.capabilities.dialect == "mysql" else SQLiteConnection(driver)
        try:
            yield connection
        except (asyncio.CancelledError, OSError, mysql_errors.MySQLError):
            await connection.abandon()
            raise


@asynccontextmanager
async def transaction() -> AsyncIterator[Connection]:
    """Lease a connection for one transaction: committed at the end, rolled back on any error.

    Not Tortoise's `in_transaction`: when its BEGIN fails or is cancelled (server restarted, tortoise 1.1.9), the
    connection never returns to the pool.
    """
    async with leased() as connection:
        connection.begin()
        try:
            yield connection
            await connection.commit()
        except BaseException:
            await connection.abandon()
            raise


async def execute(sql: str, parameters: Parameters = ()) -> int:
    async with leased() as connection:
        return await connection.execute(sql, parameters)


async def fetch(sql: str, parameters: Parameters = ()) -> list[Row]:
    async with leased() as connection:
        return await connection.fetch(sql, parameters)


async def run(*statements: Statement) -> list[Result]:
    """Run statements in one trip to the database, each its own transaction."""
    async with leased() as connection:
        return await connection.run(*statements)


def retried(operation: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Run the operation again, after a short random wait, for as long as it meets contention.

    The operation must be whole in itself: what it changed before the error is rolled back.
    """

    @wraps(operation)
    async def attempt(*args: P.args, **kwargs: P.kwargs) -> T:
        give_up_at = time.monotonic() + RETRY_SECONDS
        for tries in range(ATTEMPTS):
            try:
                return await operation(*args, **kwargs)
            except Contention as error:
                if time.monotonic() > give_up_at:
                    break
                logger.info("%s: %s, tried again", operation.__name__, error)
                await asyncio.sleep(random.uniform(0, min(0.01 * 2**tries, 0.5)))
        raise DatabaseUnavailable("The database is too busy. Try again in a moment.")

    return attempt

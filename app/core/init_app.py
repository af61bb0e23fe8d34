"""Start-up steps: the database file's folder, the first connection, the migrations."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from aerich import Command
from aerich.migrate import Migrate
from aerich.models import Aerich
from filelock import AsyncFileLock, Timeout
from pymysql.err import MySQLError
from tortoise import Tortoise
from tortoise.contrib.fastapi import RegisterTortoise
from tortoise.exceptions import BaseORMException

from app.core.database import database_client, fetch, guarded, tortoise_config
from app.core.database_errors import error_number
from app.core.errors import (
    Contention,
    DatabaseMissing,
    DatabaseRefused,
    DatabaseUnavailable,
    StartupError,
    StatementRefused,
)
from app.core.settings import Settings

logger = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
# A lock's name is the whole server's, not the database's, and no longer than 64 characters.
MIGRATION_LOCK = "CONCAT('jobdata_migrations_', MD5(DATABASE()))"
LOCK_SECONDS = 120
CONNECT_PAUSE_SECONDS = 2
CLOSE_SECONDS = 5


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[None]:
    """Connect, bring the tables up to date when the settings say so, and close at the end. Raises StartupError."""
    if settings.sqlite_file:
        _prepare_file(settings.sqlite_file.absolute())
    await RegisterTortoise(config=tortoise_config(settings)).init_orm()
    try:
        await _await_database(settings)
        if settings.run_migrations_on_startup:
            await migrate(settings)
        missing = await missing_migrations()
        if missing:
            raise StartupError(f"the tables are older than this service ({missing[0]}): run `aerich upgrade`")
        yield
    finally:
        # After the server was lost, closing may wait for connections that nobody will ever give back.
        try:
            await asyncio.wait_for(Tortoise.close_connections(), CLOSE_SECONDS)
        except TimeoutError:
            logger.warning("the database connections did not close in %d s", CLOSE_SECONDS)


def _prepare_file(file: Path) -> None:
    """Make the folder, and refuse what will never be a database, instead of waiting for it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartupError(f"the folder {file.parent} for the database cannot be made: {error.strerror}") from None
    try:
        with closing(sqlite3.connect(file, timeout=0)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.Error as error:
        code = error.sqlite_errorcode & 0xFF  # the low byte is the primary code of an extended one
        if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB}:
            raise StartupError(f"the file {file} cannot be opened as an SQLite database: {error}") from None


async def _await_database(settings: Settings) -> None:
    give_up_at = time.monotonic() + settings.database_wait_seconds
    while True:
        try:
            await fetch("SELECT 1")
            return
        except DatabaseMissing:
            raise StartupError(
                "the server has no database of the name in DATABASE_URL: create it, or check the name"
            ) from None
        except DatabaseRefused:
            raise StartupError(
                "the database does not let us in: check user, password and name in DATABASE_URL"
            ) from None
        except (DatabaseUnavailable, Contention):
            left = give_up_at - time.monotonic()
        if left <= 0:
            raise StartupError("the database does not answer: check DATABASE_URL, and that the server runs")
        logger.warning("the database does not answer; trying for another %.0f s", left)
        await asyncio.sleep(min(CONNECT_PAUSE_SECONDS, left))


async def migrate(settings: Settings) -> None:
    """Apply the migrations that are missing. Safe when several processes and machines start at once."""
    command = Command(tortoise_config(settings), app="models", location=str(MIGRATIONS))
    Migrate.migrate_location = Migrate.get_migration_dir(str(MIGRATIONS), "models")
    async with _migration_lock(settings):
        try:
            versions = await command.upgrade(run_in_transaction=True)
        except (BaseORMException, MySQLError, sqlite3.Error) as error:
            what = f"{type(error).__name__} {error_number(error) or ''}".strip()
            raise StartupError(
                f"the tables could not be brought up to date ({what}): may our user alter tables?"
            ) from None
    for version in versions:
        logger.info("migrated to %s", version)


@asynccontextmanager
async def _migration_lock(settings: Settings) -> AsyncIterator[None]:
    """One migrating process at a time: by a lock in the server, or beside the SQLite file."""
    if settings.sqlite_file:
        lock = AsyncFileLock(f"{settings.sqlite_file}.migrating", timeout=LOCK_SECONDS)
        try:
            await lock.acquire()
        except Timeout:
            raise StartupError(f"another process has been migrating for {LOCK_SECONDS} s: look for it") from None
        try:
            yield
        finally:
            await lock.release()
        return
    # The lock belongs to this one connection and goes with it, even when the process is killed.
    async with database_client().acquire_connection() as driver, driver.cursor() as cursor:
        await cursor.execute(f"SELECT GET_LOCK({MIGRATION_LOCK}, {LOCK_SECONDS})")
        if (await cursor.fetchone())[0] != 1:
            raise StartupError(f"another process has been migrating for {LOCK_SECONDS} s: look for it")
        try:
            yield
        finally:
            await cursor.execute(f"SELECT RELEASE_LOCK({MIGRATION_LOCK})")


async def missing_migrations() -> list[str]:
    """Names of the migrations that the database has not seen, in order."""
    try:
        async with guarded():
            applied = {row["version"] for row in await Aerich.filter(app="models").values("version")}
    except StatementRefused:
        applied = set()  # there is no table of versions yet
    return [path.name for path in sorted((MIGRATIONS / "models").glob("[0-9]*_*.py")) if path.name not in applied]

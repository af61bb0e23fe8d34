"""What the errors of drivers, ORM and network mean to us."""

import logging
import sqlite3
from dataclasses import dataclass
from typing import Any

from pymysql import err as mysql_errors
from tortoise.exceptions import BaseORMException, DBConnectionError

from app.core.errors import (
    Contention,
    DatabaseMissing,
    DatabaseRefused,
    DatabaseUnavailable,
    DuplicateRow,
    StatementRefused,
)

logger = logging.getLogger(__name__)

# Deadlock, lock wait timeout, «record has changed since last read», and TiDB's write conflict.
MYSQL_CONTENTION = {1020, 1205, 1213, 9007}
MYSQL_DUPLICATE = {1062, 1586}
SQLITE_DUPLICATE = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
MYSQL_UNKNOWN_COLUMN = 1054  # to the driver an operational error, like a lost connection
MYSQL_REFUSED = {1044, 1045, 1698}  # database, password, user
MYSQL_NO_DATABASE = 1049
MISTAKES = (
    *(mysql_errors.ProgrammingError, mysql_errors.DataError, mysql_errors.IntegrityError),
    *(sqlite3.ProgrammingError, sqlite3.IntegrityError),
)


@dataclass(slots=True)
class Interruption:
    """Whether the database was out of reach at some time since somebody last looked."""

    seen: bool = False


interruption = Interruption()


def translated(error: BaseException) -> Exception:
    """What an error of the driver, the ORM or the network means to us."""
    cause, number = _cause(error), error_number(error)
    if number in MYSQL_CONTENTION or _sqlite_busy(cause):
        return Contention(type(cause).__name__)
    if number in MYSQL_DUPLICATE or getattr(cause, "sqlite_errorcode", None) in SQLITE_DUPLICATE:
        return DuplicateRow()
    if _is_mistake(error, cause):
        return StatementRefused(f"{type(cause).__name__} {number or ''}".strip())
    logger.warning("database unavailable: %s %s", type(cause).__name__, number or "")
    interruption.seen = True
    if number in MYSQL_REFUSED:
        return DatabaseRefused("The database does not let the service in.")
    if number == MYSQL_NO_DATABASE:
        return DatabaseMissing("The server has no database of the name in DATABASE_URL.")
    return DatabaseUnavailable("The database does not answer. Try again in a moment.")


def error_number(error: BaseException) -> int | None:
    """The MySQL server's number of an error, wherever the driver or the ORM put it."""
    cause = _cause(error)
    return cause.args[0] if isinstance(cause, mysql_errors.MySQLError) and cause.args else None


def _cause(error: BaseException) -> Any:
    """The driver's error; the ORM gives it as an argument, or hides it behind a text of its own."""
    if isinstance(error, DBConnectionError):
        return error.__context__ or error
    return error.args[0] if isinstance(error, BaseORMException) and error.args else error


def _is_mistake(error: BaseException, cause: Any) -> bool:
    if isinstance(cause, MISTAKES):
        return True
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR or error_number(error) == MYSQL_UNKNOWN_COLUMN:
        return True  # no such table or column, mostly
    return isinstance(cause, str) and not isinstance(error, DBConnectionError)  # the ORM's own complaints


def _sqlite_busy(error: Any) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the primary code of an extended one
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

"""Plain SQL on a test database, past the service and its ORM."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from tests import mariadb

Rows = list[tuple[Any, ...]]


def run(url: str, *statements: str) -> Rows:
    """Run the statements and return the rows of the last one."""
    if url.startswith("mysql"):
        return mariadb.run_sql(url, *statements)
    with closing(sqlite3.connect(url.removeprefix("sqlite://"))) as connection, connection:
        for statement in statements:
            rows = connection.execute(statement).fetchall()
        return rows


def insert(url: str, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    names = ", ".join(columns)
    if url.startswith("mysql"):
        with closing(mariadb.connect(url)) as server, server.cursor() as cursor:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
    else:
        with closing(sqlite3.connect(url.removeprefix("sqlite://"))) as connection, connection:
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)


def columns(url: str, table: str) -> dict[str, tuple[Any, ...]]:
    """Type, nullability and default of each column."""
    if url.startswith("mysql"):
        rows = run(
            url,
            "SELECT column_name, column_type, is_nullable, column_default FROM information_schema.columns"
            f" WHERE table_schema = DATABASE() AND table_name = '{table}'",
        )
        return {row[0]: row[1:] for row in rows}
    return {row[1]: (row[2], row[3], row[4], row[5]) for row in run(url, f"PRAGMA table_info({table})")}


def indexes(url: str, table: str) -> set[tuple[Any, ...]]:
    """Uniqueness and columns of each index."""
    if url.startswith("mysql"):
        rows = run(
            url,
            "SELECT non_unique, GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM information_schema.statistics"
            f" WHERE table_schema = DATABASE() AND table_name = '{table}' GROUP BY index_name, non_unique",
        )
        return set(rows)
    return {
        (row[2], ",".join(column[2] for column in run(url, f"PRAGMA index_info({row[1]})")))
        for row in run(url, f"PRAGMA index_list({table})")
    }

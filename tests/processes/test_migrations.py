"""Migrations by aerich's own command and at the start of the service, on new and on old, filled databases."""

import os
import subprocess
import sys
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import mariadb
from tests.processes import sql
from tests.processes.test_outages import until
from tests.service_process import ROOT, ServiceProcess, running_service

TABLES = ("boss_keyword", "qcwy_keyword", "zhilian_keyword")
ALL_TABLES = (*TABLES, "keyword_history", "source_pause", "source_block", "source_cooldown", "service_state")
OLD_COLUMNS = ("id", "city", "job", "last_requested_date", "last_requested_at", "created_at", "updated_at")

OLD_SQLITE = """
CREATE TABLE {table} (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, city VARCHAR(50) NOT NULL, job VARCHAR(100) NOT NULL,
    last_requested_date DATE, last_requested_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT uid_{table}_old UNIQUE (city, job))"""
OLD_MYSQL = """
CREATE TABLE {table} (
    id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, city VARCHAR(50) NOT NULL, job VARCHAR({job}) NOT NULL,
    last_requested_date DATE, last_requested_at DATETIME(6),
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
    UNIQUE KEY uid_old (city, job)) CHARACTER SET {charset}"""


def aerich(url: str, *arguments: str) -> str:
    """Run aerich as an admin does, and return what it prints."""
    return run([str(Path(sys.executable).with_name("aerich")), *arguments], url)


def run(command: list[str], url: str) -> str:
    environment = {**os.environ, "DATABASE_URL": url}
    result = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def fill_old_database(url: str, charset: str = "utf8mb4 COLLATE utf8mb4_general_ci", job_length: int = 100) -> None:
    """Tables of the first design, with rows as its users have them."""
    old = OLD_MYSQL if url.startswith("mysql") else OLD_SQLITE
    noon = datetime(2026, 2, 28, 12, 30, 15, 123456)
    rows = []
    for number in range(300):
        asked = None if number % 3 == 0 else date(2026, 2, 1) + timedelta(days=number % 28)
        at = None if asked is None else str(noon + timedelta(minutes=number))
        rows.append((number * 2 + 1, "北京" if number % 2 else "São Paulo", f"工程师 C++ {number}",
                     asked and str(asked), at, str(noon), str(noon)))  # fmt: skip
    for table in TABLES:
        sql.run(url, old.format(table=table, charset=charset, job=job_length))
        sql.insert(url, table, OLD_COLUMNS, rows)


def old_rows(url: str) -> list[Any]:
    return [sql.run(url, f"SELECT {', '.join(OLD_COLUMNS)} FROM {table} ORDER BY id") for table in TABLES]


def test_both_ways_to_call_aerich_bring_a_new_database_to_its_head(empty_database: str) -> None:
    assert "0_20260101000000_init" in aerich(empty_database, "-c", "aerich.ini", "upgrade")
    assert "No upgrade items" in aerich(empty_database, "upgrade")
    assert "No available heads" in aerich(empty_database, "heads")


def test_the_models_need_no_further_migration(empty_database: str) -> None:
    aerich(empty_database, "upgrade")
    before = sorted((ROOT / "migrations").rglob("*.py"))
    assert "No changes detected" in aerich(empty_database, "migrate")
    assert sorted((ROOT / "migrations").rglob("*.py")) == before


def test_the_migrated_tables_are_those_of_the_models(empty_database: str) -> None:
    aerich(empty_database, "upgrade")
    migrated = [(sql.columns(empty_database, table), sql.indexes(empty_database, table)) for table in ALL_TABLES]
    sql.run(empty_database, *(f"DROP TABLE {table}" for table in ALL_TABLES))
    run([sys.executable, "-m", "tests.processes.model_tables"], empty_database)
    assert [
        (sql.columns(empty_database, table), sql.indexes(empty_database, table)) for table in ALL_TABLES
    ] == migrated


def test_an_old_filled_database_keeps_every_row_and_value(empty_database: str, tmp_path: Path) -> None:
    fill_old_database(empty_database)
    before = old_rows(empty_database)
    with running_service(empty_database, tmp_path / "log") as service:
        assert old_rows(empty_database) == before
        api = f"{service.url}/api/v1/keyword"
        stats = httpx.get(f"{api}/stats", params={"source": "boss"}).json()["data"]
        assert (stats["total"], stats["used"]) == (300, 0)
        claim = {"source": "boss", "reserve": "true", "crawler_id": "a"}
        [first] = httpx.get(f"{api}/available", params=claim).json()["data"]
        assert (first["id"], first["crawl_status"], first["last_completed_page"]) == (1, "idle", 0)


def test_a_database_with_a_migration_history_of_its_own_is_taken_over(empty_database: str) -> None:
    fill_old_database(empty_database)
    key = "INT PRIMARY KEY AUTO_INCREMENT" if empty_database.startswith("mysql") else "INTEGER PRIMARY KEY"
    history = f"CREATE TABLE aerich (id {key}, version VARCHAR(255), app VARCHAR(20), content TEXT NOT NULL)"
    sql.run(empty_database, history)
    foreign = ("version", "app", "content")
    sql.insert(empty_database, "aerich", foreign, [("0_20240101000000_init.py", "models", "{}")])
    before = old_rows(empty_database)
    aerich(empty_database, "upgrade")
    assert old_rows(empty_database) == before
    assert "crawl_status" in sql.columns(empty_database, "boss_keyword")


def test_down_and_up_again_keeps_the_work_list(empty_database: str) -> None:
    fill_old_database(empty_database)
    before = old_rows(empty_database)
    aerich(empty_database, "upgrade")
    aerich(empty_database, "downgrade", "-v", "1", "--yes")
    assert old_rows(empty_database) == before
    assert set(sql.columns(empty_database, "boss_keyword")) == set(OLD_COLUMNS)
    aerich(empty_database, "upgrade")
    assert old_rows(empty_database) == before


def test_the_first_version_is_never_taken_back(empty_database: str) -> None:
    aerich(empty_database, "upgrade")
    aerich(empty_database, "downgrade", "-v", "1", "--yes")
    assert "No downgrade items found" in aerich(empty_database, "downgrade", "--yes")
    assert sql.run(empty_database, "SELECT COUNT(*) FROM boss_keyword") == [(0,)]


def test_a_migration_that_was_killed_half_way_goes_on_from_there(empty_database: str) -> None:
    fill_old_database(empty_database)
    before = old_rows(empty_database)
    sql.run(
        empty_database,
        "ALTER TABLE boss_keyword ADD COLUMN crawl_status VARCHAR(20) NOT NULL DEFAULT 'idle'",
        "ALTER TABLE boss_keyword ADD COLUMN last_completed_page INT NOT NULL DEFAULT 0",
        "CREATE INDEX idx_boss_keywor_last_re_17bb50 ON boss_keyword (last_requested_date)",
    )
    aerich(empty_database, "upgrade")
    assert old_rows(empty_database) == before
    assert set(sql.columns(empty_database, "boss_keyword")) == set(sql.columns(empty_database, "qcwy_keyword"))
    assert sql.indexes(empty_database, "boss_keyword") == sql.indexes(empty_database, "qcwy_keyword")


def test_a_service_that_is_killed_amid_its_migration_is_simply_started_again(
    mariadb_server: str, tmp_path: Path
) -> None:
    with mariadb.temporary_database(mariadb_server) as url, closing(mariadb.connect(url)) as stranger:
        fill_old_database(url)
        before = old_rows(url)
        # An open transaction that has read the last table holds up the change of it.
        stranger.begin()
        with stranger.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM zhilian_keyword")
        waiting = (
            "SELECT COUNT(*) FROM information_schema.processlist"
            " WHERE db = DATABASE() AND state = 'Waiting for table metadata lock'"
        )
        service = ServiceProcess(url, tmp_path / "log")
        until(lambda: mariadb.run_sql(url, waiting) == [(1,)])
        service.kill()
        assert "crawl_status" in sql.columns(url, "boss_keyword")
        assert "crawl_status" not in sql.columns(url, "zhilian_keyword")
        stranger.rollback()
        with running_service(url, tmp_path / "log") as service:
            items = httpx.get(f"{service.url}/api/v1/keyword", params={"source": "zhilian", "limit": 500}).json()
            assert len(items["data"]["items"]) == 300
        assert old_rows(url) == before
        columns = [sql.columns(url, table) for table in TABLES]
        assert columns[0] == columns[1] == columns[2]


@pytest.mark.parametrize("charset", ["utf8mb3 COLLATE utf8mb3_general_ci", "gbk", "utf8mb4 COLLATE utf8mb4_unicode_ci"])
def test_older_character_sets_are_widened_and_keep_their_texts(mariadb_server: str, charset: str) -> None:
    with mariadb.temporary_database(mariadb_server) as url:
        # GBK knows no ã; what it knows comes through.
        sql.run(url, OLD_MYSQL.format(table="boss_keyword", charset=charset, job=300))
        row = (7, "北京", "Java 工程师", "2026-02-01", None, "2026-02-01 01:02:03", "2026-02-01 01:02:03")
        sql.insert(url, "boss_keyword", OLD_COLUMNS, [row])
        before = sql.run(url, f"SELECT {', '.join(OLD_COLUMNS)} FROM boss_keyword")
        aerich(url, "upgrade")
        assert sql.run(url, f"SELECT {', '.join(OLD_COLUMNS)} FROM boss_keyword") == before
        again = ("2026-02-01 01:02:03", "2026-02-01 01:02:03")
        names = ("city", "job", "created_at", "updated_at")
        sql.insert(url, "boss_keyword", names, [("北京", "java 工程师", *again), ("北京", "😀" * 250, *again)])
        assert sql.run(url, "SELECT COUNT(*) FROM boss_keyword") == [(3,)]
        assert sql.columns(url, "boss_keyword")["job"][0] == "varchar(300)"


@pytest.mark.parametrize("storage", ["ENGINE=MyISAM", "ENGINE=InnoDB ROW_FORMAT=COMPACT"])
def test_tables_of_old_servers_become_ones_with_transactions_and_long_indexes(
    mariadb_server: str, storage: str
) -> None:
    with mariadb.temporary_database(mariadb_server) as url:
        for table in TABLES:
            sql.run(url, OLD_MYSQL.format(table=table, charset="utf8mb3", job=100) + f" {storage}")
        row = (7, "北京", "Java", "2026-02-01", None, "2026-02-01 01:02:03", "2026-02-01 01:02:03")
        sql.insert(url, "boss_keyword", OLD_COLUMNS, [row])
        before = old_rows(url)
        aerich(url, "upgrade")
        assert old_rows(url) == before
        kept = "SELECT DISTINCT engine, row_format FROM information_schema.tables WHERE table_schema = DATABASE()"
        assert sql.run(url, f"{kept} AND table_name LIKE '%_keyword'") == [("InnoDB", "Dynamic")]

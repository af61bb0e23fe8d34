"""What is measured: the service and its yardsticks as processes, and a table of keywords in MariaDB."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests import mariadb
from tests.service_process import ROOT, running_service

TABLE = "boss_keyword"
API = "/api/v1/keyword"
CRAWLER = "bench"
HELD = (
    f"crawl_status = 'crawling', last_requested_date = CURDATE(), crawler_id = '{CRAWLER}',"
    " claim_token = CONCAT('token-', id), lease_expires_at = UTC_TIMESTAMP(6) + INTERVAL 10 HOUR,"
    " crawl_started_at = UTC_TIMESTAMP(6), crawl_finished_at = NULL"
)
NEVER_ASKED = (
    "crawl_status = 'idle', last_requested_date = NULL, crawler_id = NULL, claim_token = '', lease_expires_at = NULL,"
    " crawl_started_at = NULL, crawl_finished_at = NULL"
)
HALF_DONE = (
    "crawl_status = 'completed', last_requested_date = CURDATE() - INTERVAL (id % 2) DAY, crawler_id = 'earlier',"
    " claim_token = 'earlier', lease_expires_at = NULL, crawl_started_at = UTC_TIMESTAMP(6) - INTERVAL 1 DAY,"
    " crawl_finished_at = UTC_TIMESTAMP(6) - INTERVAL 1 DAY"
)
# The service's day is the server's here: CURDATE() has to be the same.
ZONE = {"TIMEZONE": "UTC"}


@contextmanager
def service(url: str, **settings: str) -> Iterator[str]:
    """The service on this database; gives its address."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(url, Path(folder) / "log", **ZONE, **settings) as process,
    ):
        yield process.url


@contextmanager
def table(server: str, keywords: int) -> Iterator[tuple[str, str]]:
    """A new database with so many keywords that nobody has asked for, and the address of a service on it."""
    with mariadb.temporary_database(server) as database, service(database) as address:
        fill(database, keywords)
        yield database, address


@contextmanager
def server(module: str, **settings: str) -> Iterator[str]:
    """A yardstick, `python -m module PORT`; gives its address."""
    port = mariadb.free_port()
    process = subprocess.Popen([sys.executable, "-m", module, str(port)], cwd=ROOT, env={**os.environ, **settings})
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                httpx.get(f"{url}/livez").raise_for_status()
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


def fill(url: str, keywords: int) -> None:
    """Add so many keywords that nobody has asked for; their ids are 1, 2, …"""
    mariadb.run_sql(
        url,
        f"INSERT INTO {TABLE} (id, city, job, created_at, updated_at)"
        f" SELECT seq, '北京', CONCAT('job ', seq), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_{keywords}",
    )


def reset(url: str, state: str, where: str = "TRUE") -> None:
    """Put these keywords into this state, without a page."""
    mariadb.run_sql(
        url,
        f"UPDATE {TABLE} SET last_completed_page = 0, jobs_found = 0, total_pages = NULL, retry_count = 0,"
        f" error_message = '', {state} WHERE {where}",
    )

"""How the service starts, and how it refuses to."""

import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from tests import mariadb
from tests.processes import sql
from tests.service_process import ROOT, ServiceProcess, running_service


def start_in_vain(url: str, **settings: str) -> tuple[int, str]:
    """Exit code and output of a start that cannot succeed."""
    environment = {**os.environ, "DATABASE_URL": url, "PORT": str(mariadb.free_port()), **settings}
    command = [sys.executable, "-m", "app"]
    result = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=90)
    assert "Traceback" not in result.stderr
    return result.returncode, result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("number", [2, 4])
def test_services_that_start_at_once_on_an_empty_database_all_come_up(
    empty_database: str, tmp_path: Path, number: int
) -> None:
    services = [ServiceProcess(empty_database, tmp_path / f"log {each}") for each in range(number)]
    try:
        for service in services:
            service.await_ready()
        assert sql.run(empty_database, "SELECT COUNT(*) FROM aerich") == [(3,)]
    finally:
        assert [service.stop() for service in services] == [0] * number


def test_without_migrations_an_empty_database_is_refused(empty_database: str) -> None:
    code, line = start_in_vain(empty_database, RUN_MIGRATIONS_ON_STARTUP="false")
    assert code == 1
    assert line.startswith("jobdata: the tables are older than this service")
    assert "aerich upgrade" in line


def test_a_second_start_finds_what_the_first_one_left(empty_database: str, tmp_path: Path) -> None:
    with running_service(empty_database, tmp_path / "log") as service:
        body = {"source": "boss", "city": "北京", "job": "python"}
        httpx.post(f"{service.url}/api/v1/keyword", json=body)
    with running_service(empty_database, tmp_path / "log", RUN_MIGRATIONS_ON_STARTUP="false") as service:
        assert httpx.get(f"{service.url}/api/v1/keyword/stats?source=boss").json()["data"]["total"] == 1


def test_a_wrong_setting_ends_the_start_with_one_line() -> None:
    assert start_in_vain("mysql://user:secret@host/db", PORT="eighty") == (
        2, "jobdata: wrong setting PORT: Input should be a valid integer, unable to parse string as an integer",
    )  # fmt: skip


@pytest.mark.parametrize("url", ["mysql://root:not-the-password@{host}/test", "mysql://nobody-here@{host}/test"])
def test_a_server_that_lets_us_not_in_is_told_at_once_without_the_password(mariadb_server: str, url: str) -> None:
    code, line = start_in_vain(url.format(host=mariadb_server.rpartition("@")[2]))
    assert code == 1
    assert line == "jobdata: the database does not let us in: check user, password and name in DATABASE_URL"


def test_a_database_that_is_not_there_is_told_by_name_of_the_setting(mariadb_server: str) -> None:
    code, line = start_in_vain(f"{mariadb_server}/jobdata_nobody_made_this")
    assert code == 1
    assert line == "jobdata: the server has no database of the name in DATABASE_URL: create it, or check the name"


def test_an_address_that_is_taken_ends_the_start_with_one_line(empty_database: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, line = start_in_vain(empty_database, PORT=str(port))
    reason = "another program listens there"
    assert (code, line) == (1, f"jobdata: cannot listen on 127.0.0.1 port {port} ({reason}): set HOST or PORT")


def test_a_start_tells_the_database_without_the_password(mariadb_server: str, tmp_path: Path) -> None:
    file = tmp_path / "new" / "jobs.sqlite3"
    for told in (f"jobdata: database {file} (new)", f"jobdata: database {file}"):
        with running_service(f"sqlite://{file}", tmp_path / "log"):
            pass
        assert told in (tmp_path / "log").read_text().splitlines()
    with mariadb.temporary_database(mariadb_server) as url, running_service(url, tmp_path / "log of it"):
        server, _, name = url.rpartition("/")
    line = f"jobdata: database {name} on {server.rpartition('@')[2]}"
    assert line in (tmp_path / "log of it").read_text().splitlines()


def test_several_workers_on_sqlite_are_advised_against(tmp_path: Path) -> None:
    with running_service(f"sqlite://{tmp_path}/jobs.sqlite3", tmp_path / "log", WORKERS="2"):
        pass
    assert "WARNING app: WORKERS=2 with SQLite" in (tmp_path / "log").read_text()


def test_a_password_with_special_characters_is_understood(mariadb_server: str, tmp_path: Path) -> None:
    with mariadb.temporary_database(mariadb_server) as url:
        name = url.rpartition("/")[2]
        user = f"u{os.getpid()}"
        hosts = ("localhost", "127.0.0.1")
        sql.run(
            mariadb_server,
            *(f"CREATE USER '{user}'@'{host}' IDENTIFIED BY 'p@:/ #%'" for host in hosts),
            *(f"GRANT ALL ON {name}.* TO '{user}'@'{host}'" for host in hosts),
        )
        try:
            mine = url.replace("//root@", f"//{user}:p%40%3A%2F%20%23%25@")
            with running_service(mine, tmp_path / "log"):
                pass
        finally:
            sql.run(mariadb_server, *(f"DROP USER '{user}'@'{host}'" for host in hosts))


def test_several_workers_serve_one_address(mariadb_server: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with mariadb.temporary_database(mariadb_server) as url, running_service(url, log, WORKERS="2") as service:
        assert httpx.get(f"{service.url}/api/v1/keyword/stats").status_code == 200
    assert len(set(re.findall(r"Started server process \[(\d+)\]", log.read_text()))) == 2


def test_the_home_page_leads_to_the_api(empty_database: str, tmp_path: Path) -> None:
    with running_service(empty_database, tmp_path / "log") as service:
        page = httpx.get(service.url, follow_redirects=True)
    assert (page.status_code, page.url.path) == (200, "/docs")


def test_a_stopping_service_finishes_the_requests_under_way(empty_database: str, tmp_path: Path) -> None:
    """A bulk request of 10,000 keywords is under way when SIGTERM comes: it is answered, and all of it is stored."""
    keywords = [{"city": f"city {number}", "job": "python"} for number in range(10_000)]
    answers: list[httpx.Response] = []

    def add_many(url: str) -> None:
        answers.append(
            httpx.post(f"{url}/api/v1/keyword/bulk", json={"source": "boss", "keywords": keywords}, timeout=60)
        )

    with running_service(empty_database, tmp_path / "log") as service:
        request = threading.Thread(target=add_many, args=(service.url,))
        request.start()
        while not sql.run(empty_database, "SELECT COUNT(*) FROM boss_keyword")[0][0]:
            assert request.is_alive()
        assert service.stop() == 0
        request.join()
    assert answers[0].json()["data"] == {"created": 10_000, "existing": 0}
    assert sql.run(empty_database, "SELECT COUNT(*) FROM boss_keyword") == [(10_000,)]


def test_a_file_that_is_no_database_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("city,job\n" * 200)
    code, line = start_in_vain(f"sqlite://{tmp_path / 'jobs.csv'}")
    assert code == 1
    assert line.startswith(f"jobdata: the file {tmp_path / 'jobs.csv'} cannot be opened as an SQLite database")


def test_a_database_that_stays_away_ends_the_start_with_one_line() -> None:
    code, line = start_in_vain(f"mysql://u:secret@127.0.0.1:{mariadb.free_port()}/d", DATABASE_WAIT_SECONDS="1")
    assert (code, line) == (1, "jobdata: the database does not answer: check DATABASE_URL, and that the server runs")

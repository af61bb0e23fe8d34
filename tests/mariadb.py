"""The MariaDB or MySQL server that tests use: the one that is there, else a private one for the length of the run.

`TEST_MYSQL_URL` names the server (mysql://root@127.0.0.1:3306 by default). Where nothing answers there, a private one
from the `mariadb-server` package runs on a free port with its data in a temporary folder.
"""

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pymysql

DEFAULT_URL = "mysql://root@127.0.0.1:3306"
START_SECONDS = 60


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server in which databases may be made, without a path."""
    url = os.environ.get("TEST_MYSQL_URL", DEFAULT_URL).rstrip("/")
    if answers(url):
        yield url
    elif "TEST_MYSQL_URL" in os.environ:
        raise RuntimeError("no server answers at TEST_MYSQL_URL")
    else:
        with private_server() as private:
            yield private.url


@contextmanager
def temporary_database(server_url: str) -> Iterator[str]:
    """The URL of a new, empty database, dropped at the end. Its name tells the process, so that two runs never meet."""
    name = f"jobdata_test_{os.getpid()}_{secrets.token_hex(3)}"
    run_sql(server_url, f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    try:
        yield f"{server_url}/{name}"
    finally:
        run_sql(server_url, f"DROP DATABASE {name}")


def connect(url: str) -> "pymysql.Connection[pymysql.cursors.Cursor]":
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""),
        database=parts.path.strip("/") or None,
        autocommit=True,
    )


def run_sql(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run the statements and return the rows of the last one."""
    connection = connect(url)
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())
    finally:
        connection.close()


def answers(url: str) -> bool:
    try:
        run_sql(url, "SELECT 1")
    except pymysql.err.OperationalError:
        return False
    return True


class PrivateServer:
    """A MariaDB of our own in a folder; it may be killed and started again on the same data and port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._program = _server_program()
        # Never root's: Galera copies a node's files through an rsync that gives root up.
        account = "mysql" if os.geteuid() == 0 else getpass.getuser()
        if os.geteuid() == 0:
            shutil.chown(folder, account)
        self._user = f"--user={account}"
        self._port = free_port()
        self.url = f"mysql://root@127.0.0.1:{self._port}"
        install = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal"]
        subprocess.run([*install, self._user, self._data], check=True, capture_output=True)
        self.start(*options)

    @property
    def _data(self) -> str:
        return f"--datadir={self._folder}/data"

    def start(self, *options: str) -> None:
        """Start it, with these further options, and wait until it answers."""
        log = self._folder / "log.err"
        command = [
            self._program, "--no-defaults", self._user, self._data, f"--port={self._port}",
            "--bind-address=127.0.0.1", f"--socket={self._folder}/socket", f"--pid-file={self._folder}/pid",
            f"--log-error={log}", *options,
        ]  # fmt: skip
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.url):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the private MariaDB did not start:\n" + log.read_text(errors="replace")[-2000:])
            time.sleep(0.1)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=START_SECONDS)


@contextmanager
def private_server() -> Iterator[PrivateServer]:
    with tempfile.TemporaryDirectory(prefix="jobdata-mariadb-") as folder:
        server = PrivateServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()


def _server_program() -> str:
    found = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
        subprocess.run(["apt-get", "install", "-y", "-qq", "mariadb-server"], check=True, env=environment)
        found = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if not found:
        raise RuntimeError("the tests need MariaDB: install mariadb-server, or name a server in TEST_MYSQL_URL")
    return found


def free_port() -> int:
    """A port that nobody listens on, from below those that the system gives to outgoing connections by itself.

    Never the same twice: whoever got it may not listen yet.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        if port in _given_ports:
            continue
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given_ports.add(port)
        return port


_given_ports: set[int] = set()

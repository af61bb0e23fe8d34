"""Fixtures for all tests. Tests of the service run on the database that `--database` names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import mariadb
from tests.scene import Scene
from tests.service_process import running_service
from tests.stand_in import StandIn

# How fast examples come on a busy machine says nothing of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=["sqlite", "mariadb"], default="sqlite", help="what the service stores in")


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    with mariadb.server() as url:
        yield url


@pytest.fixture
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a new database of the chosen kind, without any table."""
    if request.config.getoption("--database") == "mariadb":
        with mariadb.temporary_database(request.getfixturevalue("mariadb_server")) as url:
            yield url
    else:
        yield f"sqlite://{tmp_path / 'jobdata.sqlite3'}"


@pytest.fixture
def scene(empty_database: str, tmp_path: Path) -> Iterator[Scene]:
    """A running service and the stand-in for the boards."""
    with StandIn() as board, running_service(empty_database, tmp_path / "service.log") as service:
        scene = Scene(service, board, tmp_path)
        yield scene
        scene.end()

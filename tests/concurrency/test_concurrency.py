"""A short run of what `python -m tests.concurrency` does at length: 64 claimants, three services (I1 to I5)."""

from pathlib import Path

import pytest

from tests import mariadb
from tests.concurrency.__main__ import CLAIMANTS, on_galera, on_one_server
from tests.concurrency.galera import running_cluster
from tests.service_process import running_service

CLAIMS = 1_000


@pytest.fixture(autouse=True)
def with_mariadb(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--database") != "mariadb":
        pytest.skip("several services share a server, which SQLite is not: tests/processes does it with two")


def test_nothing_is_handed_out_twice_and_no_report_is_lost(tmp_path: Path) -> None:
    result = on_one_server(CLAIMS, seed=1, folder=tmp_path)
    assert result.broken == []
    assert result.figures["claims"] >= result.figures["keywords"] > CLAIMANTS


def test_a_galera_cluster_loses_a_node_and_nothing_else(tmp_path: Path) -> None:
    result = on_galera(CLAIMS, seed=1, folder=tmp_path)
    assert result.broken == []
    # Certification failures came and were tried again, or the cluster would not have been tested.
    assert any(int(failures) for failures in result.figures["nodes"]["wsrep_local_cert_failures"])
    assert result.figures["outage"]["claims of the others meanwhile"] >= CLAIMANTS
    for log in tmp_path.glob("service-*.log"):
        assert "Traceback" not in log.read_text(encoding="utf-8")


def test_a_cluster_that_shows_old_rows_is_warned_of(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running_cluster(nodes=1) as cluster:
        (node,) = cluster.nodes
        mariadb.run_sql(node.url, "CREATE DATABASE jobdata CHARACTER SET utf8mb4", "SET GLOBAL wsrep_sync_wait = 0")
        with running_service(f"{node.url}/jobdata", log):
            pass
        assert "wsrep_sync_wait other than 7" in log.read_text(encoding="utf-8")
        log.unlink()
        mariadb.run_sql(node.url, "SET GLOBAL wsrep_sync_wait = 7")
        with running_service(f"{node.url}/jobdata", log):
            pass
        assert "wsrep_sync_wait" not in log.read_text(encoding="utf-8")

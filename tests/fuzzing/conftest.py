"""A service over real HTTP, with keywords in it, whose log must stay free of tracebacks whatever it is sent."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.service_process import ServiceProcess, running_service


@pytest.fixture
def service(empty_database: str, tmp_path: Path) -> Iterator[ServiceProcess]:
    with running_service(empty_database, tmp_path / "log") as running:
        keywords = [{"city": "北京", "job": f"job {number}"} for number in range(50)]
        for source in ("boss", "qcwy", "zhilian"):
            body = {"source": source, "keywords": keywords}
            httpx.post(f"{running.url}/api/v1/keyword/bulk", json=body).raise_for_status()
        yield running
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert "unexpected" not in log

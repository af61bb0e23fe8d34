"""The real service under the state machine: HTTP, a database to look into, and a clock that stands where it is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.processes import sql
from tests.service_process import running_service

TABLES = ("boss_keyword", "keyword_history", "source_pause")


class SteppedService:
    """Calls of spiders and operators for the source `boss`."""

    def __init__(self, url: str, database_url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        self._database_url = database_url

    def close(self) -> None:
        self._http.close()

    def forget_all(self) -> None:
        sql.run(self._database_url, *(f"DELETE FROM {table}" for table in TABLES))

    def stop_clock_at(self, now: datetime) -> None:
        self._http.post("/_test/clock", json={"now": now.isoformat()}).raise_for_status()

    def sweep(self) -> int:
        ended: int = self._http.post("/_test/sweep").raise_for_status().json()
        return ended

    def get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(f"/api/v1/keyword{path}", params={"source": "boss", **query})
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        """Status, and the data or the last part of the problem's type."""
        told = {name: value for name, value in body.items() if value is not None}
        answer = self._http.post(f"/api/v1/keyword{path}", json={"source": "boss", **told})
        content = answer.json()
        if answer.is_success:
            return answer.status_code, content["data"]
        assert answer.headers["content-type"] == "application/problem+json"
        return answer.status_code, content["type"].removeprefix("/problems/")

    def history(self) -> dict[tuple[int, str], tuple[str, int, int, int]]:
        columns = "keyword_id, business_date, state, last_completed_page, jobs_found, retry_count"
        rows = sql.run(self._database_url, f"SELECT {columns} FROM keyword_history")
        return {(row[0], str(row[1])): tuple(row[2:]) for row in rows}

    def tokens(self) -> dict[int, str]:
        return dict(sql.run(self._database_url, "SELECT id, claim_token FROM boss_keyword"))


@contextmanager
def stepped_service(database_url: str, folder: Path, zone: str) -> Iterator[SteppedService]:
    """The service in a process of its own; what recurs by itself is left to the test."""
    settings = {
        "TIMEZONE": zone, "SOURCE_COOLDOWN": "false", "STALE_CLEANUP_SECONDS": "86400",
        "SIGN_OF_LIFE_SECONDS": "86400", "SHARED_READ_SECONDS": "0", "LOG_LEVEL": "WARNING",
    }  # fmt: skip
    with running_service(database_url, folder / "service.log", "tests.stepped_service", **settings) as process:
        service = SteppedService(process.url, database_url)
        yield service
        service.close()

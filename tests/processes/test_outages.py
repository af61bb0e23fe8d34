"""What survives the death of spiders, of the service and of its database, in real time."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests import mariadb
from tests.service_process import ServiceProcess, running_service

PATIENCE_SECONDS = 60
SHORT = {"LEASE_SECONDS": "5", "STALE_CLEANUP_SECONDS": "1"}


class Spider:
    """A spider's calls, by hand."""

    def __init__(self, service: ServiceProcess, crawler_id: str) -> None:
        self.api = f"{service.url}/api/v1/keyword"
        self.crawler_id = crawler_id

    def add(self, job: str) -> int:
        body = {"source": "boss", "city": "北京", "job": job}
        keyword_id: int = httpx.post(self.api, json=body).raise_for_status().json()["data"]["id"]
        return keyword_id

    def claim(self) -> dict[str, Any] | None:
        query: dict[str, Any] = {"source": "boss", "reserve": True, "crawler_id": self.crawler_id}
        claims = httpx.get(f"{self.api}/available", params=query).raise_for_status().json()["data"]
        return claims[0] if claims else None

    def page(self, claim: dict[str, Any], page: int) -> httpx.Response:
        body = {"source": "boss", "keyword_id": claim["id"], "claim_token": claim["claim_token"], "page": page}
        return httpx.post(f"{self.api}/page-progress", json=body, timeout=30)

    def heartbeat(self) -> None:
        body = {"source": "boss", "crawler_id": self.crawler_id}
        httpx.post(f"{self.api}/heartbeat", json=body).raise_for_status()

    def keyword(self, job: str) -> dict[str, Any]:
        answer = httpx.get(self.api, params={"source": "boss", "job": job}).raise_for_status()
        items = answer.json()["data"]["items"]
        keyword: dict[str, Any] = items[0]
        return keyword


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_silent_crawl_becomes_partial_and_a_living_one_does_not(empty_database: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running_service(empty_database, log, **SHORT) as service:
        silent, living = Spider(service, "silent"), Spider(service, "living")
        silent.add("first")
        silent.add("second")
        for spider in (silent, living):
            claim = spider.claim()
            assert claim
            spider.page(claim, 1)

        def swept() -> bool:
            living.heartbeat()
            return bool(silent.keyword("first")["status"] == "partial")

        until(swept)
        assert living.keyword("second")["status"] == "crawling"
        resumed = Spider(service, "next").claim()
        assert resumed
        assert (resumed["job"], resumed["last_completed_page"]) == ("first", 1)
    assert "stale crawls ended: boss=1 qcwy=0 zhilian=0" in log.read_text()


def test_a_killed_service_loses_no_reported_page(empty_database: str, tmp_path: Path) -> None:
    with running_service(empty_database, tmp_path / "log") as service:
        spider = Spider(service, "spider")
        spider.add("python")
        claim = spider.claim()
        assert claim
        assert spider.page(claim, 1).json()["data"]["applied"] is True
        service.kill()
    with running_service(empty_database, tmp_path / "log") as service:
        spider = Spider(service, "spider")
        assert spider.keyword("python")["last_completed_page"] == 1
        assert spider.page(claim, 2).json()["data"]["applied"] is True


def test_leases_that_ran_out_while_the_service_was_away_get_a_grace(empty_database: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    settings = {**SHORT, "STALE_CLEANUP_SECONDS": "3600", "OUTAGE_GRACE_SECONDS": "6", "SIGN_OF_LIFE_SECONDS": "1"}
    with running_service(empty_database, log, **settings) as service:
        spider = Spider(service, "spider")
        spider.add("python")
        claim = spider.claim()
        assert claim
        spider.page(claim, 1)
        service.kill()
    killed_at = time.monotonic()
    until(lambda: time.monotonic() - killed_at > 8)  # longer than the lease and than the grace
    with running_service(empty_database, log, **settings) as service:
        assert Spider(service, "robber").claim() is None
        assert Spider(service, "spider").page(claim, 2).json()["data"]["applied"] is True
    assert "1 leases of boss prolonged" in log.read_text()


def test_the_service_outlives_its_database(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with mariadb.private_server() as server, mariadb.temporary_database(server.url) as url:
        with running_service(url, log) as service:
            spider = Spider(service, "spider")
            spider.add("python")
            claim = spider.claim()
            assert claim
            server.kill()
            away = spider.page(claim, 1)
            assert (away.status_code, away.headers["content-type"]) == (503, "application/problem+json")
            assert int(away.headers["retry-after"]) > 0
            assert httpx.get(f"{service.url}/livez").status_code == 200
            assert httpx.get(f"{service.url}/readyz").status_code == 503
            server.start()
            until(lambda: httpx.get(f"{service.url}/readyz").status_code == 200)
            assert spider.page(claim, 1).json()["data"]["applied"] is True
        assert service.process.returncode == 0
    told = log.read_text()
    assert "Traceback" not in told
    assert "UPDATE" not in told


def test_a_stopped_service_needs_no_database_to_leave(tmp_path: Path) -> None:
    with mariadb.private_server() as server, mariadb.temporary_database(server.url) as url:
        service = ServiceProcess(url, tmp_path / "log").await_ready()
        server.kill()
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=PATIENCE_SECONDS) == 0
        server.start()

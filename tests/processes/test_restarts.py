"""Services that are restarted, and connections that run out, while spiders work."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests import mariadb
from tests.processes.balancer import Balancer
from tests.processes.test_outages import Spider, until
from tests.service_process import ServiceProcess, running_service

API = "/api/v1/keyword"
SPIDERS = 4
CALLS_BETWEEN_RESTARTS = 60


class Crawls:
    """Spiders that crawl keyword after keyword of one page over kept connections; none repeats a call."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._over = threading.Event()
        self.done: list[int] = []
        self.calls = 0

    def crawl(self, name: str) -> None:
        """Raises what a call comes to when it is not answered as it should be."""
        with httpx.Client(base_url=f"{self._url}{API}", timeout=30) as client:
            while not self._over.is_set():
                query: dict[str, str | bool] = {"source": "boss", "reserve": True, "crawler_id": name}
                (claim,) = self._answer(client.get("/available", params=query))
                who = {"source": "boss", "keyword_id": claim["id"], "claim_token": claim["claim_token"]}
                assert self._answer(client.post("/page-progress", json={**who, "page": 1}))["applied"]
                assert self._answer(client.post("/crawl-complete", json={**who, "status": "completed"}))["applied"]
                self.done.append(claim["id"])

    def _answer(self, response: httpx.Response) -> Any:
        response.raise_for_status()
        self.calls += 1
        return response.json()["data"]

    @contextmanager
    def under_way(self) -> Iterator[None]:
        with ThreadPoolExecutor(SPIDERS) as pool:
            spiders = [pool.submit(self.crawl, f"spider-{number}") for number in range(SPIDERS)]
            try:
                yield
            finally:
                self._over.set()
            for spider in spiders:
                spider.result()

    def await_calls(self, number: int) -> None:
        enough = self.calls + number
        until(lambda: self.calls >= enough)


def add_keywords(url: str, number: int) -> None:
    keywords = [{"city": "北京", "job": f"job {place}"} for place in range(number)]
    httpx.post(f"{url}{API}/bulk", json={"source": "boss", "keywords": keywords}, timeout=60).raise_for_status()


def test_a_rolling_restart_fails_no_call_of_a_spider(empty_database: str, tmp_path: Path) -> None:
    def start(port: str) -> ServiceProcess:
        return ServiceProcess(empty_database, tmp_path / f"{port}.log", PORT=port, DRAIN_SECONDS="1").await_ready()

    ports = [str(mariadb.free_port()) for _ in range(2)]
    services = {port: start(port) for port in ports}
    try:
        add_keywords(services[ports[0]].url, 9_000)
        with closing(Balancer([int(port) for port in ports])) as balancer:
            until(lambda: len(balancer.ready) == 2)
            crawls = Crawls(balancer.url)
            with crawls.under_way():
                for port in ports:
                    crawls.await_calls(CALLS_BETWEEN_RESTARTS)
                    assert services[port].stop() == 0
                    crawls.await_calls(CALLS_BETWEEN_RESTARTS)
                    services[port] = start(port)
                    until(lambda: len(balancer.ready) == 2)
                crawls.await_calls(CALLS_BETWEEN_RESTARTS)
    finally:
        for service in services.values():
            service.kill()
    assert len(crawls.done) == len(set(crawls.done)) > 0
    told = "".join((tmp_path / f"{port}.log").read_text() for port in ports)
    assert told.count("told to stop: not ready any more, stopping in 1 s") == 2


def test_a_draining_service_says_so_and_answers(empty_database: str, tmp_path: Path) -> None:
    with running_service(empty_database, tmp_path / "log", DRAIN_SECONDS="300") as service, httpx.Client() as client:
        service.process.terminate()
        until(lambda: client.get(f"{service.url}/readyz").status_code == 503)
        told = client.get(f"{service.url}/readyz")
        assert told.json()["type"] == "/problems/stopping"
        assert told.headers["connection"] == "close"
        assert client.get(f"{service.url}/livez").status_code == 200
        # Whoever asks twice has no time.
        assert service.stop() == 0


def test_calls_wait_their_turn_when_all_connections_are_taken(mariadb_server: str, tmp_path: Path) -> None:
    """Two connections, both held up by somebody else's lock on the rows: nothing has failed once it is gone."""
    spiders, pool_size = 20, 2
    with (
        mariadb.temporary_database(mariadb_server) as url,
        running_service(url, tmp_path / "log", DATABASE_POOL_SIZE=str(pool_size)) as service,
        ThreadPoolExecutor(spiders) as pool,
        closing(mariadb.connect(url)) as stranger,
        stranger.cursor() as rows,
    ):
        add_keywords(service.url, spiders)
        crawls = [Spider(service, f"spider-{number}") for number in range(spiders)]
        claims = [spider.claim() or {} for spider in crawls]
        stranger.begin()
        rows.execute("SELECT id FROM boss_keyword FOR UPDATE")
        reports = [pool.submit(spider.page, claim, 1) for spider, claim in zip(crawls, claims, strict=True)]

        def held_up() -> bool:
            waiting = (
                "SELECT COUNT(*) FROM information_schema.processlist"
                " WHERE db = DATABASE() AND info LIKE '%UPDATE boss%' AND id <> CONNECTION_ID()"
            )
            return mariadb.run_sql(url, waiting) == [(pool_size,)]

        until(held_up)
        assert httpx.get(f"{service.url}/livez").status_code == 200
        stranger.rollback()
        assert [report.result().status_code for report in reports] == [200] * spiders
        crawled = zip(crawls, claims, strict=True)
        assert {spider.keyword(claim["job"])["last_completed_page"] for spider, claim in crawled} == {1}

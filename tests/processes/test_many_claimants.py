"""Many spiders at once: no keyword twice, no report lost (I1, I2)."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service_process import running_service

API = "/api/v1/keyword"
KEYWORDS = 320


def crawl_all(address: str, crawler_id: str) -> list[int]:
    """Claim, report two pages and complete, until nothing is left; the ids of the keywords claimed."""
    claimed: list[int] = []
    with httpx.Client(base_url=address + API, timeout=60) as client:
        while True:
            query: dict[str, Any] = {"source": "boss", "reserve": True, "crawler_id": crawler_id}
            answer = client.get("/available", params=query).raise_for_status().json()["data"]
            if not answer:
                return claimed
            claim = {"source": "boss", "keyword_id": answer[0]["id"], "claim_token": answer[0]["claim_token"]}
            claimed.append(answer[0]["id"])
            for page in (1, 2):
                report = {**claim, "crawler_id": crawler_id, "page": page, "jobs_found": 10}
                assert client.post("/page-progress", json=report).raise_for_status().json()["data"]["applied"]
            client.post("/crawl-complete", json={**claim, "status": "completed"}).raise_for_status()


def crawl_with(addresses: Sequence[str], claimants: int) -> Counter[int]:
    keywords = [{"city": "北京", "job": f"job {number}"} for number in range(KEYWORDS)]
    httpx.post(addresses[0] + API + "/bulk", json={"source": "boss", "keywords": keywords}).raise_for_status()
    with ThreadPoolExecutor(claimants) as pool:
        crawls = [
            pool.submit(crawl_all, addresses[number % len(addresses)], f"spider {number}")
            for number in range(claimants)
        ]
        return Counter(keyword_id for crawl in crawls for keyword_id in crawl.result())


@pytest.mark.parametrize("services", [1, 2])
def test_sixteen_claimants_get_each_keyword_once_and_lose_no_report(
    empty_database: str, tmp_path: Path, services: int
) -> None:
    with ExitStack() as stack:
        log = tmp_path / "log"
        addresses = [stack.enter_context(running_service(empty_database, log)).url for _ in range(services)]
        claimed = crawl_with(addresses, claimants=16)
        assert (len(claimed), max(claimed.values())) == (KEYWORDS, 1)
        items = httpx.get(f"{addresses[0]}{API}?source=boss&limit=500").json()["data"]["items"]
        assert {(item["status"], item["last_completed_page"], item["jobs_found"]) for item in items} == {
            ("completed", 2, 20)
        }

"""Many spiders at once, all of whose calls are written down, so that what the service did can be compared with them."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

API = "/api/v1/keyword"
SOURCE = "boss"
JOBS_A_PAGE = 30
MAX_RETRIES = 3
PATIENCE_SECONDS = 180.0
CONTENTION = re.compile(r"INFO \S+ (\S+): \w+, tried again")


@dataclass
class Keyword:
    """What the claimants know of one keyword."""

    page: int = 0
    failures: int = 0
    status: str = "idle"
    held: bool = False


@dataclass
class Ledger:
    """The claimants' side of the story, and each place where an answer contradicts it."""

    keywords: dict[int, Keyword] = field(default_factory=dict)
    claims: int = 0
    calls: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def take(self, claim: dict[str, Any]) -> None:
        keyword = self.keywords[claim["id"]]
        self.claims += 1
        if keyword.held:
            self.broken.append(f"keyword {claim['id']} was handed out while somebody held it")
        if claim["last_completed_page"] != keyword.page or claim["retry_count"] != keyword.failures:
            self.broken.append(f"keyword {claim['id']}: handed out as {claim}, known as {keyword}")
        keyword.held = True


class Claimant:
    """One spider that claims one to five keywords at a time and works them off over any of the services.

    It repeats a call until it is answered. Nothing it does is random beyond its seed.
    """

    def __init__(self, name: str, clients: Sequence[httpx.AsyncClient], ledger: Ledger, seed: int) -> None:
        self._name = name
        self._clients = clients
        self._ledger = ledger
        self._chance = random.Random(seed)

    async def work(self) -> None:
        """Until every keyword is at its end."""
        while True:
            claims = await self._claim(self._chance.randint(1, 5))
            for claim in claims:
                self._ledger.take(claim)
            for claim in claims:
                await self._crawl(claim)
            if not claims:
                if all(each.status in ("completed", "exhausted") for each in self._ledger.keywords.values()):
                    return
                await asyncio.sleep(0.2)

    async def _claim(self, limit: int) -> list[dict[str, Any]]:
        query = {"source": SOURCE, "limit": limit, "reserve": True, "crawler_id": self._name}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = await self._once("GET", "/available", params=query)
            if answer is not None:
                claims: list[dict[str, Any]] = answer
                return claims
            assert time.monotonic() < deadline, "no service answers any more"
            # Claimed for us or not, nobody knows: free it, as a spider does, before asking again.
            await self._call("/release", {"crawler_id": self._name, "reason": "network"})

    async def _crawl(self, claim: dict[str, Any]) -> None:
        keyword = self._ledger.keywords[claim["id"]]
        ours = {"keyword_id": claim["id"], "claim_token": claim["claim_token"], "crawler_id": self._name}
        for _ in range(self._chance.randint(1, 2)):
            page = {**ours, "page": keyword.page + 1, "jobs_found": JOBS_A_PAGE, "total_pages": 9}
            copies = 2 if self._chance.random() < 0.2 else 1
            # Set before it is sent: from the moment of the commit the service may tell others.
            keyword.page += 1
            await asyncio.gather(*(self._call("/page-progress", page) for _ in range(copies)))
        end = self._chance.random()
        copies = 2 if self._chance.random() < 0.2 else 1
        keyword.held = False
        if end < 0.15:
            keyword.status = "partial"
            await self._call("/release", {**ours, "reason": "network"})
        elif end < 0.3:
            keyword.failures += 1
            keyword.status = "failed" if keyword.failures < MAX_RETRIES else "exhausted"
            failed = {**ours, "status": "failed", "error_message": "by chance"}
            await asyncio.gather(*(self._call("/crawl-complete", failed) for _ in range(copies)))
        else:
            keyword.status = "completed"
            done = {**ours, "status": "completed"}
            await asyncio.gather(*(self._call("/crawl-complete", done) for _ in range(copies)))

    async def _call(self, path: str, body: dict[str, Any]) -> None:
        """Make a report until it is answered with 200; anything else but an outage is a broken promise."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while await self._once("POST", path, json={"source": SOURCE, **body}) is None:
            assert time.monotonic() < deadline, "no service answers any more"

    async def _once(self, method: str, path: str, **request: Any) -> Any:
        """The answer's data; None when the service or its database was away."""
        self._ledger.calls += 1
        client = self._chance.choice(self._clients)
        try:
            answer = await client.request(method, API + path, **request)
        except httpx.TransportError as error:
            self._ledger.answers[type(error).__name__] += 1
            await asyncio.sleep(0.1)
            return None
        self._ledger.answers[str(answer.status_code)] += 1
        if answer.status_code == 503:
            await asyncio.sleep(0.1)
            return None
        if answer.status_code != 200:
            # A repeated end of a claim may come when somebody else has got the keyword: it changes nothing.
            if answer.status_code != 409 or path != "/crawl-complete":
                self._ledger.broken.append(f"{path} {request}: {answer.status_code} {answer.text}")
            return {}
        return answer.json()["data"]


async def add_keywords(address: str, number: int, ledger: Ledger) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        for start in range(0, number, 5000):
            jobs = range(start, min(start + 5000, number))
            keywords = [{"city": "北京", "job": f"job {job}"} for job in jobs]
            body = {"source": SOURCE, "keywords": keywords}
            (await client.post(f"{API}/bulk", json=body)).raise_for_status()
        ledger.keywords = {item["id"]: Keyword() for item in await listed(client)}


async def listed(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor = "0"
    while cursor:
        query = {"source": SOURCE, "limit": "500", "cursor": cursor}
        data = (await client.get(API, params=query)).raise_for_status().json()["data"]
        items += data["items"]
        cursor = data["next_cursor"]
    return items


async def drive(addresses: Sequence[str], claimants: int, ledger: Ledger, seed: int) -> None:
    """Let so many claimants work off all keywords over these services."""
    limits = httpx.Limits(max_connections=claimants, max_keepalive_connections=claimants)
    clients = [httpx.AsyncClient(base_url=address, timeout=60, limits=limits) for address in addresses]
    try:
        crew = [Claimant(f"spider {number}", clients, ledger, seed + number) for number in range(claimants)]
        async with asyncio.TaskGroup() as group:
            for claimant in crew:
                group.create_task(claimant.work())
    finally:
        for client in clients:
            await client.aclose()


async def compare(address: str, ledger: Ledger) -> None:
    """Put down in the ledger where the service's keywords differ from what was reported and answered."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        items = await listed(client)
    if {item["id"] for item in items} != ledger.keywords.keys():
        ledger.broken.append("the work list is not what was added")
    for item in items:
        known = ledger.keywords[item["id"]]
        status = "failed" if known.status == "exhausted" else known.status
        expected = (status, known.page, known.page * JOBS_A_PAGE, known.failures)
        seen = (item["status"], item["last_completed_page"], item["jobs_found"], item["retry_count"])
        if seen != expected:
            ledger.broken.append(f"keyword {item['id']} is {seen}, reported was {expected}")


def contention(logs: Sequence[Path]) -> dict[str, int]:
    """How often an operation met a deadlock, a lock timeout or a failed certification and was tried again."""
    found = Counter(hit[1] for log in logs for hit in CONTENTION.finditer(log.read_text(encoding="utf-8")))
    return dict(found)

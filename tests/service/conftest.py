"""The service in this process, on a clock that tests move, and short ways to say what a test is about."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from app.controllers.silence import release_stale
from app.core import database, database_errors
from app.core.clock import Clock, Moment
from app.core.database import Connection, Result, Statement
from app.core.enums import Source
from app.core.settings import CrawlRules, Settings
from app.main import create_app
from tests import mariadb

Sweep = Callable[[], Awaitable[int]]
Now = Callable[[], Moment]

TABLES = (
    "boss_keyword",
    "qcwy_keyword",
    "zhilian_keyword",
    "keyword_history",
    "source_pause",
    "source_block",
    "source_cooldown",
    "service_state",
)
SHANGHAI = ZoneInfo("Asia/Shanghai")
MORNING = datetime(2026, 3, 2, 10, 0, tzinfo=SHANGHAI)


class MovableTime:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)

    def set(self, now: datetime) -> None:
        self.now = now


class Api:
    """The calls of a spider and of an operator, with the answers' `data`; `raw` gives the whole response."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.raw = client

    async def get(self, path: str, **query: Any) -> Any:
        return self._data(await self.raw.get(f"/api/v1/keyword{path}", params=query))

    async def post(self, path: str, **body: Any) -> Any:
        return self._data(await self.raw.post(f"/api/v1/keyword{path}", json={"source": "boss", **body}))

    async def refused(self, path: str, **body: Any) -> tuple[int, str]:
        """Status and last part of the problem type of a call that is refused."""
        response = await self.raw.post(f"/api/v1/keyword{path}", json={"source": "boss", **body})
        assert response.headers["content-type"] == "application/problem+json"
        problem = response.json()
        assert problem["status"] == response.status_code
        return response.status_code, problem["type"].removeprefix("/problems/")

    async def add(self, *jobs: str, city: str = "北京", source: str = "boss") -> list[int]:
        """Add keywords and return their ids."""
        return [(await self.post("", source=source, city=city, job=job))["id"] for job in jobs]

    async def look(self, limit: int = 100, source: str = "boss") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.get("/available", source=source, limit=limit)
        return found

    async def claim(self, crawler_id: str | None = "spider", limit: int = 1, source: str = "boss") -> Any:
        """Claim keywords: the one claim (None when there is nothing), or the list when limit is more than 1."""
        query = {"crawler_id": crawler_id} if crawler_id else {}
        claims = await self.get("/available", source=source, limit=limit, reserve=True, **query)
        if limit > 1:
            return claims
        return claims[0] if claims else None

    async def page(self, claim: dict[str, Any], page: int, jobs: int = 0, **more: Any) -> Any:
        return await self.post("/page-progress", page=page, jobs_found=jobs, **held(claim), **more)

    async def complete(self, claim: dict[str, Any], status: str = "completed", message: str = "") -> Any:
        return await self.post("/crawl-complete", status=status, error_message=message, **held(claim))

    async def heartbeat(self, **who: Any) -> Any:
        return await self.post("/heartbeat", **who)

    async def release(self, reason: str, message: str = "", **who: Any) -> int:
        """Give claims back and return how many were."""
        answer = await self.post("/release", reason=reason, error_message=message, **who)
        released: int = answer["released"]
        return released

    async def fail(self, claim: dict[str, Any], message: str = "") -> Any:
        return await self.complete(claim, "failed", message)

    async def keyword(self, keyword_id: int, source: str = "boss") -> dict[str, Any]:
        """A keyword as the list shows it."""
        items = (await self.get("", source=source, limit=500))["items"]
        return next(item for item in items if item["id"] == keyword_id)

    async def stats(self, source: str = "boss", **query: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await self.get("/stats", source=source, **query)
        return answer

    @staticmethod
    def _data(response: httpx.Response) -> Any:
        assert response.is_success, response.text
        return response.json()["data"]


def held(claim: dict[str, Any]) -> dict[str, Any]:
    """How a report names its claim."""
    return {"keyword_id": claim["id"], "claim_token": claim["claim_token"]}


def jobs(claims: list[dict[str, Any]]) -> list[str]:
    """The keywords' jobs, by which tests tell them apart."""
    return [claim["job"] for claim in claims]


@pytest.fixture(scope="session")
def session_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as stack:
        if request.config.getoption("--database") == "mariadb":
            server = request.getfixturevalue("mariadb_server")
            yield stack.enter_context(mariadb.temporary_database(server))
        else:
            folder: Path = tmp_path_factory.mktemp("database")
            yield f"sqlite://{folder / 'jobdata.sqlite3'}"


@pytest.fixture(scope="session")
def time_of_tests() -> MovableTime:
    return MovableTime()


@pytest.fixture(scope="session")
async def app(session_database: str, time_of_tests: MovableTime) -> AsyncIterator[FastAPI]:
    # The recurring jobs run on real time; tests that move the clock call what they do themselves.
    settings = Settings(
        database_url=SecretStr(session_database),
        stale_cleanup_seconds=86400,
        sign_of_life_seconds=86400,
        shared_read_seconds=0,
    )
    app = create_app(settings, Clock(SHANGHAI, time_of_tests))
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
def clock(time_of_tests: MovableTime) -> MovableTime:
    time_of_tests.set(MORNING)
    return time_of_tests


@pytest.fixture
def moment(app: FastAPI, clock: MovableTime) -> Now:
    """Reads the service's clock, for what tests ask of controllers directly."""
    read: Now = app.state.clock.moment
    return read


@pytest.fixture
def rules(app: FastAPI) -> CrawlRules:
    defaults: CrawlRules = app.state.crawl_rules
    return defaults


@pytest.fixture
def sweep(moment: Now, rules: CrawlRules) -> Sweep:
    """What the scheduler does every ten minutes to the keywords of Boss; returns how many claims it ended."""
    return lambda: release_stale(Source.BOSS, moment(), rules)


@pytest.fixture
async def api(app: FastAPI, clock: MovableTime) -> AsyncIterator[Api]:
    for table in TABLES:
        await database.execute(f"DELETE FROM {table}")
    database_errors.interruption.seen = False
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield Api(client)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Statement]:
    """The statements that the service sends to the database, in order."""
    statements_so_far: list[Statement] = []
    for kind in (database.MySQLConnection, database.SQLiteConnection):
        run = kind._run

        async def watched(self: Connection, statements: Any, run: Any = run) -> list[Result]:
            statements_so_far.extend(statements)
            return list(await run(self, statements))

        monkeypatch.setattr(kind, "_run", watched)
    return statements_so_far


def problem_of(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer, after a look at its shape and for what must not be in it."""
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    )
    problem: dict[str, Any] = answer.json()
    assert problem.keys() >= {"type", "title", "status", "detail"}
    assert problem["status"] == status
    for secret in ("Traceback", "SELECT", "UPDATE", "INSERT", "boss_keyword", "Error("):
        assert secret not in answer.text
    return problem


async def history() -> list[dict[str, Any]]:
    """The rows of the history, oldest day first, with times and dates as Python's."""
    columns = (
        "source", "keyword_id", "business_date", "city", "job", "state", "last_completed_page", "total_pages",
        "jobs_found", "retry_count", "crawler_id", "error_message", "crawl_started_at", "crawl_finished_at",
    )  # fmt: skip
    rows = await database.fetch(f"SELECT {', '.join(columns)} FROM keyword_history ORDER BY business_date, keyword_id")
    kept = [dict(zip(columns, row, strict=True)) for row in rows]
    for day in kept:
        day["business_date"] = database.as_date(day["business_date"])
        for name in ("crawl_started_at", "crawl_finished_at"):
            day[name] = database.as_time(day[name])
    return kept


async def by_hand(statement: str, *parameters: object) -> None:
    """What a person does to the database with a client of their own."""
    await database.execute(statement, parameters)


def utc(moment: datetime) -> str:
    """A time as answers spell it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

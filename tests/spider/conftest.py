"""Real parts around a spider: the stand-in board, a small service, and a clock that does not make anybody wait."""

import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs_spider.boss.boos_api import KIND, BossBoard, BossSettings
from jobs_spider.client import Claim, KeywordClient
from jobs_spider.crawl import Ending, KeywordCrawl, Kit
from jobs_spider.settings import SpiderSettings
from jobs_spider.spider import Quota, Spider
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.workers import Crew
from tests.spider.service import Keyword, Service
from tests.stand_in import StandIn

START = datetime(2026, 3, 1, 18, 0, tzinfo=UTC)
MOST_WAITS = 300


class QuickTime(Timekeeper):
    """Waiting only moves this clock on. `on_wait` is called instead, with the seconds."""

    def __init__(self) -> None:
        super().__init__(random.Random(1))
        self.waits: list[float] = []
        self.on_wait: Callable[[float], None] = lambda seconds: None

    def now(self) -> datetime:
        return START + timedelta(seconds=sum(self.waits))

    def monotonic(self) -> float:
        return sum(self.waits)

    def wait(self, seconds: float) -> None:
        assert len(self.waits) < MOST_WAITS, "the spider waits for ever"
        self.waits.append(seconds)
        self.on_wait(seconds)


@pytest.fixture(autouse=True)
def _clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine reaches a test, and what a test writes stays in its own folder."""
    for name in list(os.environ):
        if name.startswith(("SPIDER_", "BOSS_", "BROWSER_")) or name == "TIMEZONE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def quick_time() -> QuickTime:
    return QuickTime()


@pytest.fixture
def board() -> Iterator[StandIn]:
    with StandIn(page_size=4) as stand_in:
        yield stand_in


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as small_service:
        yield small_service


MakeKit = Callable[..., Kit]
MakeSpider = Callable[..., Spider]


@pytest.fixture
def kit(board: StandIn, service: Service, quick_time: QuickTime) -> MakeKit:
    """What a spider works with; name only the settings that the test is about."""

    def make(page_limit: int = 3, pages_per_day: int = 0, requests_per_minute: int = 6000, **settings: Any) -> Kit:
        spider = SpiderSettings.load(**{"base_url": service.url, "service_retries": 1, **settings})
        boss = BossSettings.load(
            search_url=board.search_url("boss"),
            page_size=4,
            page_limit=page_limit,
            pages_per_day=pages_per_day,
            requests_per_minute=requests_per_minute,
        )
        return Crew(KIND, boss, spider, quick_time).kit(BossBoard(boss, spider, quick_time), spider.id)

    return make


@pytest.fixture
def spider(kit: MakeKit) -> MakeSpider:
    """A spider that leaves when nothing is left to do; `most_keywords=None` makes it stay."""

    def make(most_keywords: int | None = 100, **settings: Any) -> Spider:
        return Spider(kit(**settings), Quota(most_keywords))

    return make


@pytest.fixture
def client(service: Service, quick_time: QuickTime) -> KeywordClient:
    settings = SpiderSettings.load(base_url=service.url, service_retries=2)
    return KeywordClient("boss", "spider-1", settings, quick_time)


@pytest.fixture
def claim(client: KeywordClient, service: Service) -> Claim:
    service.add()
    claimed = client.claim()
    assert isinstance(claimed, Claim)
    return claimed


def crawl(kit: Kit) -> Ending:
    """Claim one keyword and crawl it."""
    claimed = kit.client.claim()
    assert isinstance(claimed, Claim)
    return KeywordCrawl(kit, claimed).run()


def stored(folder: Path) -> list[dict[str, Any]]:
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("data/jobs/*.jsonl")]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def outcome(keyword: Keyword) -> tuple[str, int, int]:
    return keyword.crawl_status, keyword.last_completed_page, keyword.jobs_found

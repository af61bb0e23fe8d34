"""Keywords without any job: believed while others bring jobs, else a suspected block."""

import pytest

from jobs_spider.crawl import Ending
from jobs_spider.doubts import EmptyPages
from tests.spider.conftest import MakeKit, MakeSpider, QuickTime, crawl
from tests.spider.service import Service
from tests.stand_in import Fault, StandIn


def test_a_row_of_empty_keywords_is_a_suspected_block(
    kit: MakeKit, service: Service, board: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    keywords = [service.add(job) for job in ("a", "b", "c")]
    board.add_fault(Fault("empty"))
    parts = kit()
    assert [crawl(parts) for _ in keywords] == [Ending("empty", 1), Ending("empty", 1), Ending("blocked", 1, 4)]
    assert [keyword.crawl_status for keyword in keywords] == ["completed", "completed", "partial"]
    assert keywords[2].reason == "blocked"
    assert "no job on the first page of 3 keywords in a row" in keywords[2].error_message
    assert "reason='blocked': page 1: no job" in caplog.text


def test_a_keyword_with_jobs_between_them_makes_empty_ones_believed(
    kit: MakeKit, service: Service, board: StandIn
) -> None:
    for job in ("a", "b", "Python", "c", "d"):
        service.add(job)
        if len(job) == 1:
            board.add_fault(Fault("empty", keyword=job))
    parts = kit(page_limit=1)
    assert [crawl(parts).reason for _ in range(5)] == ["empty", "empty", "page limit", "empty", "empty"]


def test_a_doubted_keyword_that_is_empty_again_after_the_pause_is_believed(
    spider: MakeSpider, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    keywords = [service.add(job) for job in ("a", "b", "c", "d")]
    board.add_fault(Fault("empty"))
    quick_time.on_wait = lambda _: (
        quick_time.stop() if all(keyword.crawl_status == "completed" for keyword in keywords) else None
    )
    assert spider(most_keywords=None).run() == 0
    # Each doubted one is asked a second time, after a pause.
    assert [visit["keyword"] for visit in board.visits] == ["a", "b", "c", "c", "d", "d"]


def test_a_page_past_the_end_raises_no_doubt(kit: MakeKit, service: Service, board: StandIn) -> None:
    for job in ("a", "b", "c"):
        service.add(job)
    board.add_fault(Fault("empty", page=2))
    parts = kit()
    assert [crawl(parts).reason for _ in range(3)] == ["past the end"] * 3


def test_the_doubt_can_be_turned_off() -> None:
    pages = EmptyPages(0)
    assert all(pages.believes(number) for number in range(20))

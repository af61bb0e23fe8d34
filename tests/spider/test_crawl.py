"""One keyword, from its claim to its end, against the stand-in board and a small service."""

import logging
from pathlib import Path

import pytest

from jobs_spider.crawl import Ending
from tests.spider.conftest import MakeKit, QuickTime, crawl, outcome, stored
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn
from tests.stand_in_boss import job_ids

SHANGHAI = "101020100"


def test_every_page_is_stored_reported_and_the_keyword_completed(
    kit: MakeKit, service: Service, tmp_path: Path
) -> None:
    keyword = service.add("C++")
    assert crawl(kit()) == Ending("last page", 3)
    expected = [job_id for page in (1, 2, 3) for job_id in job_ids(SHANGHAI, "C++", page, 4)]
    assert [job["job_id"] for job in stored(tmp_path)] == expected
    assert outcome(keyword) == ("completed", 3, 12)
    assert keyword.total_pages == 3


def test_a_stored_job_says_where_it_was_found(kit: MakeKit, service: Service, tmp_path: Path) -> None:
    service.add("C++", city="上海市")
    crawl(kit(page_limit=1))
    found = stored(tmp_path)[0]
    assert (found["keyword"], found["keyword_city"], found["page"]) == ("C++", "上海市", 1)
    assert found["fetched_at"] == "2026-03-01T18:00:00Z"


def test_a_total_that_shrinks_while_there_is_more_does_not_end_the_keyword_early(
    kit: MakeKit, service: Service, board: StandIn
) -> None:
    keyword = service.add()
    board.reshape(pages=4)
    board.add_fault(Fault("shrinking_totals"))
    crawl(kit(page_limit=3))
    # Page 3 told of a total of 2: nobody is told that, or a resume would take the keyword for finished.
    assert [body["total_pages"] for body in service.bodies("page-progress")] == [4, 3, None]
    assert keyword.last_completed_page == 3


def test_jobs_that_come_again_on_a_later_page_are_stored_and_counted_once(
    kit: MakeKit, service: Service, board: StandIn, tmp_path: Path
) -> None:
    keyword = service.add()
    board.add_fault(Fault("shifted_list", page=2))
    crawl(kit())
    ids = [job["job_id"] for job in stored(tmp_path)]
    assert len(ids) == len(set(ids)) == keyword.jobs_found == 10
    assert keyword.last_completed_page == 3


def test_repeated_pages_are_told_to_the_service(kit: MakeKit, service: Service, board: StandIn) -> None:
    keyword = service.add()
    board.add_fault(Fault("repeat_page", page=2))
    crawl(kit())
    assert (keyword.crawl_status, keyword.last_completed_page) == ("completed", 1)
    assert keyword.error_message == "repeats: page 2 brought only jobs that were seen before"


def test_a_resumed_keyword_starts_after_its_checkpoint(kit: MakeKit, service: Service, board: StandIn) -> None:
    keyword = service.add(last_completed_page=2, crawl_status="partial")
    crawl(kit())
    assert board.pages_asked() == [3]
    assert outcome(keyword) == ("completed", 3, 4)


@pytest.mark.parametrize(("checkpoint", "total", "reason"), [(3, None, "page limit"), (2, 2, "total reached")])
def test_a_keyword_whose_pages_are_all_done_is_completed_without_asking_the_board(
    kit: MakeKit, service: Service, board: StandIn, checkpoint: int, total: int | None, reason: str
) -> None:
    service.add(last_completed_page=checkpoint, total_pages=total, crawl_status="partial")
    assert crawl(kit()) == Ending(reason, 0)
    assert board.pages_asked() == []


@pytest.mark.parametrize(
    ("pages", "limit", "fault", "reason", "reported"),
    [
        (2, 5, None, "last page", 2),
        (0, 5, None, "empty", 0),
        (4, 3, None, "page limit", 3),
        (5, 5, Fault("repeat_page", page=3), "repeats", 2),
        (5, 5, Fault("empty", page=3), "past the end", 2),
        (4, 9, Fault("shrinking_totals"), "last page", 4),
    ],
)
def test_a_crawl_ends_with_its_reason(
    kit: MakeKit,
    service: Service,
    board: StandIn,
    pages: int,
    limit: int,
    fault: Fault | None,
    reason: str,
    reported: int,
) -> None:
    keyword = service.add()
    board.reshape(pages=pages)
    if fault:
        board.add_fault(fault)
    assert crawl(kit(page_limit=limit)).reason == reason
    assert outcome(keyword) == ("completed", reported, reported * 4)


def test_a_page_is_on_the_disk_before_it_is_reported(
    kit: MakeKit, service: Service, tmp_path: Path, quick_time: QuickTime
) -> None:
    service.add()
    service.script("page-progress", Scripted("reset"))
    stored_before_the_repeat: list[int] = []
    quick_time.on_wait = lambda _: stored_before_the_repeat.append(len(stored(tmp_path)))
    crawl(kit(page_limit=1))
    assert stored_before_the_repeat == [4]


def test_bad_entries_do_not_lose_the_page(
    kit: MakeKit, service: Service, board: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    keyword = service.add()
    board.add_fault(Fault("bad_items", page=1))
    crawl(kit(page_limit=1))
    assert outcome(keyword) == ("completed", 1, 4)
    assert "unreadable entries skipped keyword=1 city='上海' job='Python' page=1 entries=1,2" in caplog.text


def test_pages_are_asked_for_with_a_polite_pause_between_them(
    kit: MakeKit, service: Service, quick_time: QuickTime
) -> None:
    service.add()
    crawl(kit(pause_min_seconds=3, pause_max_seconds=8))
    assert len(quick_time.waits) == 2
    assert all(3 <= wait <= 8 for wait in quick_time.waits)


def test_the_pause_is_also_kept_between_two_keywords(kit: MakeKit, service: Service, quick_time: QuickTime) -> None:
    service.add("Python")
    service.add("Go")
    parts = kit(page_limit=1)
    crawl(parts)
    crawl(parts)
    assert len(quick_time.waits) == 1


def test_each_end_is_one_log_line_without_the_token(
    kit: MakeKit, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.add()
    crawl(kit())
    assert "keyword ended keyword=1 city='上海' job='Python' pages=3 reason='last page'" in caplog.text
    assert "secret-token" not in caplog.text

"""Reports while the service is away, and the ends that the service or a signal brings."""

import pytest

from jobs_spider.crawl import EXIT_SERVICE, Ending
from tests.spider.conftest import MakeKit, QuickTime, crawl, outcome
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn


def test_reports_wait_while_the_service_is_away_and_are_then_told_in_page_order(
    kit: MakeKit, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    keyword = service.add()
    service.script("page-progress", *[Scripted(status=503)] * 4)
    crawl(kit(service_retries=1))
    assert [body["page"] for body in service.bodies("page-progress")] == [1, 1, 1, 1, 1, 2, 3]
    assert outcome(keyword) == ("completed", 3, 12)
    assert "report kept keyword=1 city='上海' job='Python' page=2 waiting=2" in caplog.text


def test_a_report_whose_answer_was_lost_counts_once(kit: MakeKit, service: Service) -> None:
    keyword = service.add()
    service.script("page-progress", *[Scripted("lost")] * 4)
    crawl(kit())
    assert outcome(keyword) == ("completed", 3, 12)


def test_a_completion_is_tried_again_while_the_service_is_away(
    kit: MakeKit, service: Service, quick_time: QuickTime
) -> None:
    keyword = service.add()
    service.script("crawl-complete", *[Scripted(status=503, headers={"Retry-After": "20"})] * 6)
    assert crawl(kit(page_limit=1, service_retries=0)).exit_code == 0
    assert keyword.crawl_status == "completed"
    assert quick_time.waits == pytest.approx([20] * 6, abs=20)


def test_a_service_that_stays_away_is_given_up_with_a_clear_line(
    kit: MakeKit, service: Service, caplog: pytest.LogCaptureFixture, quick_time: QuickTime
) -> None:
    service.add()
    service.script("page-progress", *[Scripted(status=503)] * 1000)
    ending = crawl(kit(delivery_patience_seconds=600))
    assert ending == Ending("last page, not delivered", 3, EXIT_SERVICE)
    assert "gave up for now keyword=1 city='上海' job='Python' undelivered_calls=4" in caplog.text
    assert sum(quick_time.waits) < 700
    assert service.bodies("crawl-complete") == []


@pytest.mark.parametrize("status", [409, 404])
def test_a_lost_claim_ends_the_keyword_at_the_page_boundary(
    kit: MakeKit, service: Service, board: StandIn, status: int
) -> None:
    service.add()
    service.script("page-progress", Scripted(status=status))
    assert crawl(kit()) == Ending("claim lost", 1)
    assert board.pages_asked() == [1]
    assert service.names() == ["available", "page-progress"]


def test_a_refused_report_ends_the_keyword_and_is_told(
    kit: MakeKit, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.add()
    service.script("page-progress", Scripted(status=422, body={"detail": "page is too large"}))
    assert crawl(kit()) == Ending("refused by the service", 1, EXIT_SERVICE)
    assert "page is too large" in caplog.text


def test_should_stop_gives_the_keyword_back_at_the_page_boundary(
    kit: MakeKit, service: Service, board: StandIn
) -> None:
    keyword = service.add()
    service.should_stop = True
    assert crawl(kit()) == Ending("stopped", 1)
    assert (keyword.reason, outcome(keyword)) == ("stopped", ("partial", 1, 4))
    assert board.pages_asked() == [1]


def test_should_stop_on_the_last_page_still_completes(kit: MakeKit, service: Service) -> None:
    keyword = service.add()
    service.should_stop = True
    crawl(kit(page_limit=1))
    assert keyword.crawl_status == "completed"


def test_the_stop_signal_during_a_pause_reports_the_page_in_hand_and_releases(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    keyword = service.add()
    quick_time.on_wait = lambda _: quick_time.stop()
    assert crawl(kit()) == Ending("stopped", 1)
    assert (keyword.reason, outcome(keyword)) == ("stopped", ("partial", 1, 4))
    assert board.pages_asked() == [1]


def test_the_stop_signal_before_the_first_page_asks_nothing_of_the_board(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    keyword = service.add()
    quick_time.stop()
    assert crawl(kit()) == Ending("stopped", 0)
    assert (keyword.reason, board.pages_asked()) == ("stopped", [])


def test_the_stop_signal_while_a_page_is_tried_again_releases_as_stopped(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    keyword = service.add()
    board.add_fault(Fault("reset"))
    quick_time.on_wait = lambda _: quick_time.stop()
    assert crawl(kit()) == Ending("stopped", 0)
    assert (keyword.reason, board.pages_asked()) == ("stopped", [1])


def test_the_stop_signal_while_the_service_is_away_tries_once_more_and_leaves(
    kit: MakeKit, service: Service, quick_time: QuickTime
) -> None:
    service.add()
    service.script("crawl-complete", *[Scripted(status=503)] * 1000)
    quick_time.on_wait = lambda _: quick_time.stop()
    crawl(kit(page_limit=1, service_retries=0))
    assert service.names().count("crawl-complete") == 2

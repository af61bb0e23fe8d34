"""A spider's life: claims, waits, pauses and exits."""

import pytest

from tests.spider.conftest import MakeSpider, QuickTime
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn


def test_keywords_are_crawled_until_none_is_left(spider: MakeSpider, service: Service) -> None:
    keywords = [service.add(job) for job in ("Python", "C++", "Go")]
    assert spider().run() == 0
    assert [keyword.crawl_status for keyword in keywords] == ["completed"] * 3


def test_once_means_one_keyword(spider: MakeSpider, service: Service) -> None:
    first, second = service.add("Python"), service.add("Go")
    assert spider(most_keywords=1).run() == 0
    assert (first.crawl_status, second.crawl_status) == ("completed", "idle")


def test_nothing_to_do_with_a_limit_leaves_at_once(spider: MakeSpider, quick_time: QuickTime) -> None:
    assert spider(most_keywords=1).run() == 0
    assert quick_time.waits == []


@pytest.mark.parametrize(("asked", "shortest", "longest"), [("7", 7, 8.75), ("9999", 300, 375), ("0", 1, 1.25)])
def test_without_a_limit_an_empty_list_is_waited_out_within_bounds(
    spider: MakeSpider, service: Service, quick_time: QuickTime, asked: str, shortest: float, longest: float
) -> None:
    service.script("available", Scripted(status=200, headers={"Retry-After": asked}, body={"data": []}))
    quick_time.on_wait = lambda _: quick_time.stop()
    assert spider(most_keywords=None).run() == 0
    assert shortest <= quick_time.waits[0] <= longest


def test_the_reason_of_an_empty_list_is_told(
    spider: MakeSpider, service: Service, quick_time: QuickTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    body = {"data": [], "reason": "cooling down: code 37"}
    service.script("available", Scripted(status=200, headers={"Retry-After": "86400"}, body=body))
    quick_time.on_wait = lambda _: quick_time.stop()
    assert spider(most_keywords=None, idle_wait_max_seconds=3600).run() == 0
    assert 3600 <= quick_time.waits[0] <= 4500
    assert "nothing to do (cooling down: code 37), waiting" in caplog.text


def test_the_own_idle_wait_is_used_when_the_service_names_none(
    spider: MakeSpider, service: Service, quick_time: QuickTime
) -> None:
    service.script("available", Scripted(status=200, body={"data": []}))
    quick_time.on_wait = lambda _: quick_time.stop()
    spider(most_keywords=None, idle_wait_seconds=40).run()
    assert 40 <= quick_time.waits[0] <= 50


@pytest.mark.parametrize("scripted", [Scripted("lost"), Scripted("reset"), Scripted(status=503)])
def test_a_claim_whose_answer_is_lost_is_released_before_the_next_one(
    spider: MakeSpider, service: Service, scripted: Scripted
) -> None:
    keyword = service.add()
    service.script("available", scripted)
    assert spider().run() == 0
    # Once at once, and once more after the wait, when a slow claim may have been carried out after all.
    assert service.names()[:4] == ["available", "release", "release", "available"]
    assert {body["reason"] for body in service.bodies("release")} == {"network"}
    assert keyword.crawl_status == "completed"


def test_no_claim_is_made_while_the_release_is_owed(spider: MakeSpider, service: Service) -> None:
    service.add()
    service.script("available", Scripted("lost"))
    service.script("release", *[Scripted("reset")] * 6)
    assert spider(service_retries=0).run() == 0
    assert service.names()[:9] == ["available", *["release"] * 7, "available"]


def test_a_service_that_is_away_is_waited_for_with_growing_waits(
    spider: MakeSpider, service: Service, quick_time: QuickTime
) -> None:
    service.add()
    service.script("available", *[Scripted(status=503, headers={"Retry-After": "33"})] * 2, *[Scripted("reset")] * 4)
    quick_time.on_wait = lambda _: quick_time.stop() if len(quick_time.waits) == 6 else None
    assert spider(most_keywords=None, service_backoff_seconds=8).run() == 0
    assert quick_time.waits[:2] == [33, 33]
    assert quick_time.waits[2:6] == sorted(quick_time.waits[2:6])


def test_a_run_with_a_limit_gives_up_on_a_service_that_stays_away(spider: MakeSpider, service: Service) -> None:
    service.script("available", *[Scripted(status=503)] * 1000)
    assert spider(delivery_patience_seconds=100).run() == 3


@pytest.mark.parametrize("status", [401, 404, 422])
@pytest.mark.parametrize("most_keywords", [1, None])
def test_a_service_that_refuses_claims_ends_the_spider(
    spider: MakeSpider, service: Service, status: int, most_keywords: int | None
) -> None:
    service.script("available", Scripted(status=status))
    assert spider(most_keywords=most_keywords).run() == 3


def test_a_stable_id_first_frees_what_its_earlier_life_held(spider: MakeSpider, service: Service) -> None:
    held = service.add(held=True, last_completed_page=2)
    assert spider(id="spider-7").run() == 0
    assert service.calls[0] == ("release", {"source": "boss", "crawler_id": "spider-7", "reason": "restarted"})
    assert held.crawl_status == "completed"


def test_without_a_stable_id_nothing_is_released_at_the_start(spider: MakeSpider, service: Service) -> None:
    spider().run()
    assert service.names() == ["available"]


@pytest.mark.parametrize(
    ("fault", "exit_code"), [("block_35", 4), ("rate_limit", 4), ("login_expired", 5), ("reset", 6)]
)
def test_with_a_limit_trouble_ends_the_run_with_its_exit_code(
    spider: MakeSpider, service: Service, board: StandIn, fault: str, exit_code: int
) -> None:
    service.add("Python")
    second = service.add("Go")
    board.add_fault(Fault(fault))
    assert spider().run() == exit_code
    assert second.crawl_status == "idle"


def long_waits(waits: list[float]) -> list[float]:
    return [wait for wait in waits if wait >= 100]


def test_without_a_limit_the_pause_doubles_up_to_its_longest(
    spider: MakeSpider, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add()
    board.add_fault(Fault("block_35"))
    quick_time.on_wait = lambda _: quick_time.stop() if len(long_waits(quick_time.waits)) == 5 else None
    assert spider(most_keywords=None, trouble_pause_seconds=100, trouble_pause_max_seconds=500).run() == 0
    pauses = long_waits(quick_time.waits)
    assert all(full <= pause <= full * 1.2 for pause, full in zip(pauses, [100, 200, 400, 500, 500], strict=True))
    assert len(board.pages_asked()) == 5


def test_a_page_that_comes_ends_the_row_of_troubles(
    spider: MakeSpider, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    for job in ("Python", "Go", "Rust"):
        service.add(job)
    board.add_fault(Fault("block_35", keyword="Python", times=2))
    board.add_fault(Fault("block_35", keyword="Rust", times=1))
    quick_time.on_wait = lambda _: quick_time.stop() if len(long_waits(quick_time.waits)) == 3 else None
    spider(most_keywords=None, trouble_pause_seconds=100).run()
    assert [int(pause // 100) for pause in long_waits(quick_time.waits)] == [1, 2, 1]


def test_a_keyword_that_needed_no_page_does_not_end_the_row(
    spider: MakeSpider, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add("Python", crawl_status="partial")
    service.add("Go", city="亚特兰蒂斯")
    board.add_fault(Fault("block_35"))

    def hand_out_the_other_one_next(_: float) -> None:
        service.keywords.reverse()
        if len(long_waits(quick_time.waits)) == 2:
            quick_time.stop()

    quick_time.on_wait = hand_out_the_other_one_next
    spider(most_keywords=None, trouble_pause_seconds=100).run()
    assert [int(pause // 100) for pause in long_waits(quick_time.waits)] == [1, 2]
    assert [keyword.crawl_status for keyword in service.keywords] == ["partial", "failed"]


def test_a_stopped_spider_leaves_with_0_even_in_trouble(
    spider: MakeSpider, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add()
    service.script("release", *[Scripted(status=503)] * 1000)
    board.add_fault(Fault("block_35"))
    quick_time.on_wait = lambda _: quick_time.stop()
    assert spider(most_keywords=1).run() == 0


def test_a_spider_told_to_stop_while_it_waits_for_the_service_leaves(
    spider: MakeSpider, service: Service, quick_time: QuickTime
) -> None:
    service.script("available", *[Scripted(status=503)] * 1000)
    quick_time.on_wait = lambda _: quick_time.stop()
    assert spider(most_keywords=1).run() == 0
    assert service.names().count("available") == 1

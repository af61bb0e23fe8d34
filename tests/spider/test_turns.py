"""When the board may be asked: night hours, the machine's page budget and rate limit, slower pauses, shared pauses."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from jobs_spider.cooldown import CoolDown
from jobs_spider.crawl import Ending
from jobs_spider.ledger import Ledger
from jobs_spider.night import Night
from jobs_spider.turns import BudgetSpent, Resting, Turns
from tests.spider.conftest import START, MakeKit, MakeSpider, QuickTime, crawl, outcome, stored
from tests.spider.service import Keyword, Service
from tests.stand_in import Fault, StandIn


def stop_when_done(quick_time: QuickTime, *keywords: Keyword) -> None:
    def look(_: float) -> None:
        if all(keyword.crawl_status == "completed" for keyword in keywords):
            quick_time.stop()

    quick_time.on_wait = look


def test_nothing_is_asked_at_night(
    spider: MakeSpider, service: Service, quick_time: QuickTime, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    keyword = service.add()
    stop_when_done(quick_time, keyword)
    assert spider(most_keywords=None, night_hours="01:00-06:00").run() == 0
    # The clock of the tests starts at 02:00 in Shanghai; 06:00 there is 22:00 UTC.
    assert min(job["fetched_at"] for job in stored(tmp_path)) >= "2026-03-01T22:00:00Z"
    assert service.names()[0] == "available"
    assert caplog.text.count("resting, night hours: nothing is asked before 2026-03-02 06:00") == 1


def test_a_night_that_begins_in_the_middle_of_a_keyword_gives_it_back(
    kit: MakeKit, service: Service, board: StandIn
) -> None:
    keyword = service.add()
    parts = kit(night_hours="02:01-06:00", pause_min_seconds=60, pause_max_seconds=60)
    assert crawl(parts) == Ending("night hours", 1, 8)
    assert (keyword.reason, outcome(keyword)) == ("other", ("partial", 1, 4))
    assert keyword.error_message.startswith("page 2: nothing is asked before 2026-03-02 06:00")
    assert board.pages_asked() == [1]


def test_a_run_with_a_limit_leaves_at_night(spider: MakeSpider, service: Service) -> None:
    service.add()
    assert spider(most_keywords=1, night_hours="01:00-06:00").run() == 8
    assert service.calls == []


def test_the_days_pages_are_counted_for_all_spiders_of_the_machine(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    first, second = service.add("Python"), service.add("Go")
    assert crawl(kit(page_limit=2, pages_per_day=3)).reason == "page limit"
    assert crawl(kit(page_limit=2, pages_per_day=3)) == Ending("page budget", 1, 8)
    assert (first.crawl_status, second.reason, second.last_completed_page) == ("completed", "other", 1)
    assert "the day's pages of this machine are used up" in second.error_message
    third = kit(pages_per_day=3)
    assert isinstance(third.turns.rest(), BudgetSpent)
    # 02:00 in Shanghai and 22 hours.
    quick_time.waits.append(22 * 3600)
    assert third.turns.rest() is None
    assert board.pages_asked() == [1, 2, 1]


def test_a_used_up_budget_is_waited_out_until_the_next_business_day(
    spider: MakeSpider, service: Service, quick_time: QuickTime, tmp_path: Path
) -> None:
    keyword = service.add()
    stop_when_done(quick_time, keyword)
    assert spider(most_keywords=None, pages_per_day=2).run() == 0
    days = [datetime.fromisoformat(job["fetched_at"]) + timedelta(hours=8) for job in stored(tmp_path)]
    assert sorted(day.date().isoformat() for day in days) == ["2026-03-02"] * 8 + ["2026-03-03"] * 4
    assert keyword.jobs_found == 12


def test_the_rate_limit_holds_over_all_spiders_of_the_machine(
    kit: MakeKit, service: Service, quick_time: QuickTime
) -> None:
    service.add("Python")
    service.add("Go")
    for parts in (kit(page_limit=1, requests_per_minute=1), kit(page_limit=1, requests_per_minute=1)):
        crawl(parts)
    assert sum(quick_time.waits) == pytest.approx(60, abs=1)


def test_a_page_that_is_tried_again_takes_a_turn_of_its_own(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add()
    board.add_fault(Fault("reset", times=1))
    crawl(kit(page_limit=1, requests_per_minute=1))
    assert sum(quick_time.waits) == pytest.approx(60, abs=1)


def test_the_stop_signal_ends_the_wait_for_a_turn(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    keyword = service.add()
    quick_time.on_wait = lambda seconds: quick_time.stop() if seconds > 30 else None
    assert crawl(kit(requests_per_minute=1)) == Ending("stopped", 1)
    assert (keyword.reason, keyword.error_message) == ("stopped", "")
    assert board.pages_asked() == [1]


def test_a_clock_that_was_set_back_does_not_stop_the_spider_for_a_day(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "boss", requests_per_minute=2, pages_per_day=0)
    tomorrow = START + timedelta(days=1)
    assert [ledger.seconds_to_wait(tomorrow) for _ in range(2)] == [0, 0]
    assert ledger.seconds_to_wait(tomorrow) == pytest.approx(60, abs=0.01)
    assert ledger.seconds_to_wait(START) == 0


def test_boards_do_not_share_a_limit(tmp_path: Path) -> None:
    ledgers = [Ledger(tmp_path, source, 1, 1) for source in ("boss", "qcwy")]
    assert [ledger.seconds_to_wait(START) for ledger in ledgers] == [0, 0]
    assert [ledger.count_page(START.date()) for ledger in ledgers] == [True, True]
    assert [ledger.count_page(START.date()) for ledger in ledgers] == [False, False]


def test_when_requests_cannot_be_counted_none_is_made(
    spider: MakeSpider, service: Service, board: StandIn, tmp_path: Path
) -> None:
    keyword = service.add()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "spider").write_text("a file where the folder belongs", encoding="utf-8")
    assert spider(pages_per_day=5).run() == 7
    assert "requests cannot be counted" in keyword.error_message
    assert board.pages_asked() == []


def test_pauses_get_longer_after_many_pages_and_short_again_after_a_rest(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add()
    board.reshape(pages=7)
    pacer = {"pause_min_seconds": 1, "pause_max_seconds": 1, "slower_after_pages": 2, "slower_factor": 3}
    parts = kit(page_limit=7, **pacer)
    crawl(parts)
    assert quick_time.waits == [1, 3, 3, 9, 9, 9]
    quick_time.waits.append(1800)
    parts.pacer.pause()
    assert quick_time.waits[-1] == 1


def test_pauses_stay_as_they_are_when_told_so(
    kit: MakeKit, service: Service, board: StandIn, quick_time: QuickTime
) -> None:
    service.add()
    board.reshape(pages=4)
    crawl(kit(page_limit=4, pause_min_seconds=1, pause_max_seconds=1, slower_after_pages=0))
    assert quick_time.waits == [1, 1, 1]


def test_trouble_of_one_worker_makes_the_others_give_their_keywords_back(
    kit: MakeKit, service: Service, board: StandIn
) -> None:
    keyword, parts = service.add(), kit()
    parts.cool_down.begin("blocked")
    assert crawl(parts) == Ending("cooling down", 0, 8)
    assert keyword.error_message == "page 1: the spider pauses after 'blocked'"
    assert board.pages_asked() == []


def test_trouble_during_a_pause_does_not_double_it(quick_time: QuickTime) -> None:
    cool_down = CoolDown(quick_time, 100, 1000)
    cool_down.begin("blocked")
    left = cool_down.seconds_left()
    cool_down.begin("login")
    assert (cool_down.seconds_left(), cool_down.reason) == (left, "blocked")
    quick_time.waits.append(left)
    cool_down.begin("login")
    assert 200 <= cool_down.seconds_left() <= 240


def test_a_rest_knows_its_end(kit: MakeKit, quick_time: QuickTime) -> None:
    parts = kit(night_hours="01:00-06:00")
    rest = parts.turns.rest()
    assert isinstance(rest, Resting)
    assert rest.until == datetime(2026, 3, 1, 22, tzinfo=UTC)


def test_the_last_page_of_the_day_goes_to_one_spider_only(quick_time: QuickTime, tmp_path: Path) -> None:
    class Overtaken(Ledger):
        def seconds_to_wait(self, now: datetime) -> float:
            self.count_page(now.date() + timedelta(days=1))
            return 0

    # 18:00 UTC is the next day in Shanghai.
    zone = ZoneInfo("Asia/Shanghai")
    ledger = Overtaken(tmp_path, "boss", requests_per_minute=10, pages_per_day=1)
    turns = Turns(quick_time, ledger, Night("", zone), zone, CoolDown(quick_time, 1, 1))
    with pytest.raises(BudgetSpent):
        turns.take()

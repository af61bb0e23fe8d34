"""What the service has yet to hear survives a crash, in order, and is told before anything else."""

import logging
import os
from pathlib import Path

import pytest

from jobs_spider.client import Claim, KeywordClient, Owed, PageReport, ServiceRefused, ServiceUnreachable
from jobs_spider.crawl import EXIT_SERVICE
from jobs_spider.outbox import NameTaken, Outbox
from jobs_spider.spider import Quota, Spider
from tests.spider.conftest import MakeKit, MakeSpider, QuickTime, crawl, outcome
from tests.spider.service import Scripted, Service


def owed(page: int = 1) -> Owed:
    return Owed(call="page-progress", body={"keyword_id": 1, "page": page, "claim_token": "secret-token"})


def spool(folder: Path) -> Path:
    return folder / "data" / "spider" / "owed-boss-spider-7.jsonl"


def test_what_is_owed_is_read_again_after_a_crash(tmp_path: Path) -> None:
    outbox = Outbox.open(tmp_path, "boss", "spider-7")
    outbox.put(owed(1))
    outbox.put(owed(2))
    outbox.close()
    again = Outbox.open(tmp_path, "boss", "spider-7")
    assert (again.first(), len(again)) == (owed(1), 2)
    again.drop_first()
    assert again.first() == owed(2)


def test_the_file_is_gone_when_nothing_is_owed(tmp_path: Path) -> None:
    outbox = Outbox.open(tmp_path, "boss", "spider:7")
    outbox.put(owed())
    assert (tmp_path / "owed-boss-spider%3A7.jsonl").exists()
    outbox.drop_first()
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.skipif(os.name != "posix", reason="modes tell who may read a file on POSIX only")
def test_only_its_owner_can_read_the_file_since_it_holds_tokens(tmp_path: Path) -> None:
    Outbox(tmp_path / "owed.jsonl").put(owed())
    assert (tmp_path / "owed.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_is_owed_never_shows_its_token() -> None:
    assert "secret-token" not in f"{owed()} {owed()!r}"
    assert str(owed(3)) == "call=page-progress keyword=1 page=3"


def test_a_file_left_half_written_does_not_stop_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "owed.new").write_text("half", encoding="utf-8")
    Outbox(tmp_path / "owed.jsonl").put(owed())
    assert len(Outbox(tmp_path / "owed.jsonl")) == 1


def test_an_unreadable_file_is_told_without_its_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "owed.jsonl").write_text('{"call": "surprise", "body": {"claim_token": "secret-token"}}\n', "utf-8")
    assert len(Outbox(tmp_path / "owed.jsonl")) == 0
    assert "cannot be read" in caplog.text
    assert "secret-token" not in caplog.text


def test_a_folder_that_cannot_be_written_keeps_reports_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    outbox = Outbox.open(tmp_path / "file" / "spider", "boss", None)
    outbox.put(owed())
    assert outbox.first() == owed()
    (tmp_path / "owed.new").mkdir()
    Outbox(tmp_path / "owed.jsonl").put(owed())
    assert caplog.text.count("kept in memory only") == 2


def test_two_running_spiders_never_share_a_stable_name(tmp_path: Path) -> None:
    first = Outbox.open(tmp_path, "boss", "spider-7")
    with pytest.raises(NameTaken, match="spider-7"):
        Outbox.open(tmp_path, "boss", "spider-7")
    assert len(Outbox.open(tmp_path, "qcwy", "spider-7")) == len(first) == 0


def test_without_a_stable_name_the_next_spider_takes_over_what_a_crash_left(tmp_path: Path) -> None:
    running = Outbox.open(tmp_path, "boss", None)
    crashed = Outbox.open(tmp_path, "boss", None)
    crashed.put(owed())
    crashed.close()
    assert (len(running), len(Outbox.open(tmp_path, "boss", None))) == (0, 1)


def test_spooled_reports_are_told_before_the_earlier_life_is_released(
    kit: MakeKit, service: Service, tmp_path: Path
) -> None:
    keyword, parts = service.add(), kit(id="spider-7", delivery_patience_seconds=0, page_limit=2)
    service.script("page-progress", *[Scripted(status=503)] * 1000)
    service.script("release", *[Scripted(status=503)] * 1000)
    # Two pages are crawled, and the spider is gone before the service comes back.
    assert crawl(parts).exit_code == EXIT_SERVICE
    assert spool(tmp_path).exists()
    parts.outbox.close()
    service.calls.clear()
    service.forget_scripts()
    assert Spider(kit(id="spider-7", page_limit=2), Quota(1)).run() == 0
    assert service.names() == ["page-progress", "page-progress", "crawl-complete", "release", "available"]
    assert outcome(keyword) == ("completed", 2, 8)
    assert not spool(tmp_path).exists()


@pytest.mark.parametrize("status", [404, 409, 422])
def test_a_spooled_report_that_counts_no_more_is_dropped_with_a_line(
    client: KeywordClient, service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    outbox = Outbox(tmp_path / "owed.jsonl")
    outbox.put(owed())
    service.script("page-progress", Scripted(status=status))
    outbox.deliver(client)
    assert len(outbox) == 0
    assert "owed report dropped call=page-progress keyword=1 page=1" in caplog.text


@pytest.mark.parametrize(("status", "kind"), [(401, ServiceRefused), (503, ServiceUnreachable)])
def test_a_spooled_report_is_kept_while_the_service_is_away_or_the_key_is_wrong(
    client: KeywordClient, service: Service, tmp_path: Path, status: int, kind: type[Exception]
) -> None:
    outbox = Outbox(tmp_path / "owed.jsonl")
    outbox.put(owed())
    service.script("page-progress", *[Scripted(status=status)] * 3)
    with pytest.raises(kind):
        outbox.deliver(client)
    assert len(outbox) == 1


def test_a_spider_that_gave_up_on_a_completion_makes_it_before_its_next_claim(
    spider: MakeSpider, service: Service, quick_time: QuickTime
) -> None:
    first, second = service.add("Python"), service.add("Go")
    service.script("crawl-complete", *[Scripted(status=503)] * 2)
    quick_time.on_wait = lambda _: quick_time.stop() if second.crawl_status == "completed" else None
    assert spider(most_keywords=None, page_limit=1, delivery_patience_seconds=0).run() == 0
    assert (first.crawl_status, second.crawl_status) == ("completed", "completed")
    assert "release" not in service.names()


def test_a_service_away_for_twenty_minutes_costs_no_page(
    spider: MakeSpider, service: Service, quick_time: QuickTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    keyword = service.add()

    def away_for_twenty_minutes(_: float) -> None:
        if quick_time.monotonic() > 1200:
            service.forget_scripts()

    quick_time.on_wait = away_for_twenty_minutes
    for call in ("page-progress", "crawl-complete", "heartbeat"):
        service.script(call, *[Scripted("reset")] * 10000)
    assert spider(most_keywords=1).run() == 0
    assert quick_time.monotonic() > 1200
    assert outcome(keyword) == ("completed", 3, 12)


def test_a_lost_claim_takes_its_reports_with_it(kit: MakeKit, service: Service) -> None:
    service.add()
    service.script("page-progress", *[Scripted(status=503)] * 2, Scripted(status=409))
    parts = kit()
    assert crawl(parts).reason == "claim lost"
    assert len(parts.outbox) == 0


def test_a_report_names_its_claim(client: KeywordClient, claim: Claim) -> None:
    report = client.page_report(claim, PageReport(page=2, total_pages=None, jobs_found=4))
    assert (report.body["keyword_id"], report.body["claim_token"]) == (claim.id, "secret-token")

"""The Boss spider as a process that takes its pages from a real Chromium, with the real service and the stand-in."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import chromium
from tests.end_to_end.test_boss_spider import BEIJING, PATIENCE_SECONDS, Scene
from tests.service_process import running_service
from tests.stand_in import Fault, StandIn
from tests.stand_in_boss import job_ids


@pytest.fixture(scope="module")
def cdp_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chromium.running_chromium(tmp_path_factory.mktemp("profile")) as url:
        yield url


class BrowserScene(Scene):
    """Spiders that fetch in a browser."""

    def way(self, **browser: str) -> dict[str, str]:
        return {"BOSS_FETCH": "browser", "BOSS_SEARCH_PAGE_URL": self.board.page_url("boss"), **browser}

    def stored(self) -> list[dict[str, Any]]:
        """What was stored, without the time; and the files are gone."""
        records = []
        for file in (self.folder / "jobs").glob("*.jsonl"):
            records += [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            file.unlink()
        return [{name: value for name, value in record.items() if name != "fetched_at"} for record in records]


@pytest.fixture
def scene(request: pytest.FixtureRequest, empty_database: str, tmp_path: Path) -> Iterator[BrowserScene]:
    if request.config.getoption("--database") != "sqlite":
        pytest.skip("how a page is fetched has nothing to do with the database")
    with (
        StandIn(page_size=5) as board,
        running_service(empty_database, tmp_path / "service.log") as service,
    ):
        scene = BrowserScene(service, board, tmp_path)
        yield scene
        for spider in scene.spiders:
            if spider.poll() is None:
                spider.kill()
                spider.wait()


def test_a_browser_opened_with_a_profile_stores_and_reports_what_requests_do(scene: BrowserScene) -> None:
    jobs = ["C++ / C# & 100%", "Go"]
    way = scene.way(
        BROWSER_EXECUTABLE=chromium.program(),
        BROWSER_HEADLESS="true",
        BROWSER_ARGUMENTS=json.dumps(chromium.ARGUMENTS),
        BROWSER_PROFILE_DIR=str(scene.folder / "profile"),
    )
    scene.add(*jobs)
    assert scene.run_spider("--max-keywords", "2", **way) == 0
    in_browser = scene.stored()
    asked = scene.board.pages_asked()
    told = [(scene.keyword(job)["status"], scene.keyword(job)["jobs_found"]) for job in jobs]
    assert told == [("completed", 15)] * 2
    scene.add(*jobs, city="上海")
    assert scene.run_spider("--max-keywords", "2") == 0
    by_requests = scene.stored()
    # The other city only gives the same jobs other ids and links.
    same = [{**record, "keyword_city": "", "job_id": "", "url": ""} for record in in_browser + by_requests]
    assert same[: len(in_browser)] == same[len(in_browser) :]
    expected = [identity for job in jobs for page in (1, 2, 3) for identity in job_ids(BEIJING, job, page, 5)]
    assert [record["job_id"] for record in in_browser] == expected
    assert asked == [1, 2, 3] * 2


def test_a_check_is_told_and_the_crawl_goes_on_when_a_person_has_passed_it(scene: BrowserScene, cdp_url: str) -> None:
    scene.add("Go")
    scene.board.add_fault(Fault("block_37_visit", page=2, times=1))
    spider = scene.start_spider("--once", **scene.way(BROWSER_CDP_URL=cdp_url))
    scene.until(lambda: "the browser's window shows the board's check" in scene.log())
    assert scene.keyword("Go")["status"] == "crawling"
    httpx.post(f"{scene.board.url}/_control/person")
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert (scene.keyword("Go")["status"], scene.keyword("Go")["jobs_found"]) == ("completed", 15)
    assert "somebody has seen to it, going on" in scene.log()
    assert "Traceback" not in scene.log()


def test_a_check_that_nobody_passes_releases_the_keyword_and_a_resume_goes_there_by_scrolling(
    scene: BrowserScene, cdp_url: str
) -> None:
    scene.add("Go")
    scene.board.add_fault(Fault("block_37_visit", page=3, times=1))
    way = scene.way(BROWSER_CDP_URL=cdp_url, BROWSER_PERSON_WAIT_SECONDS="0")
    assert scene.run_spider("--once", **way) == 4
    keyword = scene.keyword("Go")
    assert (keyword["status"], keyword["last_completed_page"], keyword["retry_count"]) == ("partial", 2, 0)
    assert keyword["error_message"].startswith("blocked: page 3: the browser's window shows the board's check")
    assert scene.run_spider("--once", **way) == 0
    assert scene.board.pages_asked() == [1, 2, 3, 1, 2, 3]
    assert (scene.keyword("Go")["status"], scene.keyword("Go")["jobs_found"]) == ("completed", 15)
    ids = [record["job_id"] for record in scene.stored()]
    assert ids == [identity for page in (1, 2, 3) for identity in job_ids(BEIJING, "Go", page, 5)]


def test_a_stop_signal_ends_the_wait_for_a_person(scene: BrowserScene, cdp_url: str) -> None:
    scene.add("Go")
    scene.board.add_fault(Fault("login_expired", page=2))
    spider = scene.start_spider(**scene.way(BROWSER_CDP_URL=cdp_url))
    scene.until(lambda: "the browser's window shows the board's login" in scene.log())
    spider.send_signal(signal.SIGTERM)
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert (scene.keyword("Go")["status"], scene.keyword("Go")["last_completed_page"]) == ("partial", 1)
    assert "reason='stopped'" in scene.log()
    assert "Traceback" not in scene.log()

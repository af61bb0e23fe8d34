"""The browser way as users run it: a spider process and a real Chromium, with the real service and the stand-in."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests import chromium
from tests.scene import PATIENCE_SECONDS, Scene
from tests.stand_in import Fault

# A refusal for which the board's page shows a check, and one for which it asks for a login.
CHECKS = {"boss": "block_37_visit", "qcwy": "status_blocked", "zhilian": "verification"}
LOGINS = {"boss": "login_expired", "qcwy": "login_expired", "zhilian": "login_expired"}


@pytest.fixture(scope="module")
def cdp_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chromium.running_chromium(tmp_path_factory.mktemp("profile")) as url:
        yield url


@pytest.fixture(params=["boss", "qcwy", "zhilian"])
def window(request: pytest.FixtureRequest, scene: Scene) -> Scene:
    """A scene of small pages; its spiders fetch in a browser when they are told `**browser(...)`."""
    scene.source = request.param
    scene.board.reshape(page_size=5)
    return scene


def browser(scene: Scene, **settings: str) -> dict[str, str]:
    return {f"{scene.source.upper()}_FETCH": "browser", **settings}


def without_times(scene: Scene) -> list[dict[str, Any]]:
    """What was stored, without the time; and the files are gone."""
    records = scene.stored()
    for file in (scene.folder / "jobs").glob("*.jsonl"):
        file.unlink()
    return [{name: value for name, value in record.items() if name != "fetched_at"} for record in records]


def test_a_browser_opened_with_a_profile_stores_and_reports_what_requests_do(window: Scene) -> None:
    jobs = ["C++ / C# & 100%", "Go"]
    way = browser(
        window,
        BROWSER_EXECUTABLE=chromium.program(),
        BROWSER_HEADLESS="true",
        BROWSER_ARGUMENTS=json.dumps(chromium.ARGUMENTS),
        BROWSER_PROFILE_DIR=str(window.folder / "profile"),
    )
    window.add(*jobs)
    assert window.run_spider("--max-keywords", "2", **way) == 0
    in_browser = without_times(window)
    asked = window.board.pages_asked()
    told = [(window.keyword(job)["status"], window.keyword(job)["jobs_found"]) for job in jobs]
    assert told == [("completed", 15)] * 2
    assert [record["job_id"] for record in in_browser] == window.expected_ids(*jobs)
    assert asked == [1, 2, 3] * 2
    # As fresh keywords under another name of the same city, by requests.
    window.add(*jobs, city="北京市")
    assert window.run_spider("--max-keywords", "2") == 0
    by_requests = [{**record, "keyword_city": "北京"} for record in without_times(window)]
    assert by_requests == in_browser


def test_a_check_is_told_and_the_crawl_goes_on_when_a_person_has_passed_it(window: Scene, cdp_url: str) -> None:
    window.add("Go")
    window.board.add_fault(Fault(CHECKS[window.source], page=2, times=1))
    spider = window.start_spider("--once", **browser(window, BROWSER_CDP_URL=cdp_url))
    window.until(lambda: "the browser's window shows the board's check" in window.log())
    assert window.keyword("Go")["status"] == "crawling"
    httpx.post(f"{window.board.url}/_control/person")
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert (window.keyword("Go")["status"], window.keyword("Go")["jobs_found"]) == ("completed", 15)
    assert window.stored_ids() == window.expected_ids("Go")
    assert "somebody has seen to it, going on" in window.log()
    assert "Traceback" not in window.log()


def test_a_check_that_nobody_passes_releases_the_keyword_and_a_resume_turns_the_pages_to_it(
    window: Scene, cdp_url: str
) -> None:
    window.add("Go")
    window.board.add_fault(Fault(CHECKS[window.source], page=3, times=1))
    way = browser(window, BROWSER_CDP_URL=cdp_url, BROWSER_PERSON_WAIT_SECONDS="0")
    assert window.run_spider("--once", **way) == 4
    keyword = window.keyword("Go")
    assert (keyword["status"], keyword["last_completed_page"], keyword["retry_count"]) == ("partial", 2, 0)
    assert keyword["error_message"].startswith("blocked: page 3: the browser's window shows the board's check")
    assert window.run_spider("--once", **way) == 0
    assert window.board.pages_asked() == [1, 2, 3, 1, 2, 3]
    assert (window.keyword("Go")["status"], window.keyword("Go")["jobs_found"]) == ("completed", 15)
    assert window.stored_ids() == window.expected_ids("Go")


def test_a_stop_signal_ends_the_wait_for_a_person(window: Scene, cdp_url: str) -> None:
    window.add("Go")
    window.board.add_fault(Fault(LOGINS[window.source], page=2))
    spider = window.start_spider(**browser(window, BROWSER_CDP_URL=cdp_url))
    window.until(lambda: "the browser's window shows the board's login" in window.log())
    spider.send_signal(signal.SIGTERM)
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert (window.keyword("Go")["status"], window.keyword("Go")["last_completed_page"]) == ("partial", 1)
    assert "reason='stopped'" in window.log()
    assert "Traceback" not in window.log()

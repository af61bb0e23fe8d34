"""The way through a search, on a window that plays a script: no browser, and no waiting."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from jobs_spider.board import Answer, Blocked, LoginLost, Page, ServerFault, Stopped, Unreachable
from jobs_spider.boss.answers import read_page
from jobs_spider.boss.browser import BossSearchPage
from jobs_spider.browser_search import LOOKS_WITHOUT, BrowserSearch, Heard
from jobs_spider.search_page import Asked, Signs
from jobs_spider.settings import BrowserSettings, SpiderSettings
from tests.spider.conftest import QuickTime

CHECK = "the check"


def jobs(page: int, has_more: bool = True) -> Answer:
    job = {"encryptJobId": f"id-{page}", "jobName": "x", "salaryDesc": "1-2K"}
    return answer({"code": 0, "zpData": {"hasMore": has_more, "jobList": [job]}})


def refusal(code: int) -> Answer:
    return answer({"code": code, "message": "?", "zpData": {}})


def answer(content: dict[str, Any]) -> Answer:
    return Answer(200, "", json.dumps(content).encode())


class ScriptedWindow:
    """Answers result page N with `script[N]`, one after the other, the last one again and again."""

    def __init__(self, time: QuickTime, script: dict[int, list[Answer]], status: int = 200) -> None:
        self.script = script
        self.status = status
        self.opened: list[str] = []
        self.moves = 0
        self.in_sight: Signs | None = None
        self.on_listen: Callable[[], None] = lambda: None
        self.closed = False
        self._time = time
        self._at = 0
        self.heard: list[Heard] = []

    def open(self, address: str) -> int:
        self.opened.append(address)
        self._at = 0
        self.go_on(None)
        return self.status

    def go_on(self, next_button: str | None) -> None:
        self.moves += 1
        self._at += 1
        self.bring(self._at)

    def bring(self, number: int, job: str = "Python") -> None:
        answers = self.script.get(number, [])
        if answers:
            self.heard.append(Heard(Asked(job, number)))
            self.heard.append(Heard(Asked(job, number), answers.pop(0) if len(answers) > 1 else answers[0]))

    def listen(self) -> list[Heard]:
        self._time.wait(0.2)
        self.on_listen()
        heard, self.heard = self.heard, []
        return heard

    def sees(self, signs: Signs) -> str | None:
        return CHECK if signs == self.in_sight else None

    def close(self) -> None:
        self.closed = True


BOSS = BossSearchPage("https://x.example/jobs", "https://x.example/api")


class Scene:
    """A search in a scripted window."""

    def __init__(self, time: QuickTime, script: dict[int, list[Answer]], status: int = 200, **settings: Any) -> None:
        self.window = ScriptedWindow(time, script, status)
        self.search = BrowserSearch(
            self.window, BOSS, self.read, time, BrowserSettings.load(**settings), SpiderSettings.load()
        )

    def read(self, answer: Answer, _number: int) -> Page:
        return read_page(answer, 15)

    def ids(self, number: int, job: str = "Python") -> list[str]:
        return [job.job_id for job in self.search.page("101020100", job, number).jobs]


@pytest.fixture
def pages() -> dict[int, list[Answer]]:
    return {1: [jobs(1)], 2: [jobs(2)], 3: [jobs(3, has_more=False)]}


def test_pages_in_a_row_open_the_search_page_once(quick_time: QuickTime, pages: dict[int, list[Answer]]) -> None:
    scene = Scene(quick_time, pages)
    assert [scene.ids(number) for number in (1, 2, 3)] == [["id-1"], ["id-2"], ["id-3"]]
    assert scene.window.opened == ["https://x.example/jobs?query=Python&city=101020100"]


def test_a_resume_turns_the_pages_before_with_a_pause_and_hands_out_only_its_own(
    quick_time: QuickTime, pages: dict[int, list[Answer]]
) -> None:
    scene = Scene(quick_time, pages)
    assert scene.ids(3) == ["id-3"]
    assert len([seconds for seconds in quick_time.waits if seconds >= 3]) == 2


def test_a_page_after_the_last_is_empty_and_not_asked_for(
    quick_time: QuickTime, pages: dict[int, list[Answer]]
) -> None:
    scene = Scene(quick_time, pages)
    assert scene.ids(5) == []
    assert scene.window.moves == 3


def test_a_page_that_was_loaded_early_needs_no_scrolling(quick_time: QuickTime, pages: dict[int, list[Answer]]) -> None:
    scene = Scene(quick_time, pages)
    scene.ids(1)
    scene.window.bring(2)
    assert (scene.ids(2), scene.window.moves) == (["id-2"], 1)


def test_another_keywords_late_answer_is_not_taken(quick_time: QuickTime, pages: dict[int, list[Answer]]) -> None:
    scene = Scene(quick_time, pages)
    scene.window.heard.append(Heard(Asked("Go", 1), jobs(99)))
    assert scene.ids(1) == ["id-1"]


def test_a_refusal_that_the_page_answers_by_a_better_try_is_none(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {1: [refusal(37), jobs(1)]})
    scene.window.on_listen = lambda: scene.window.bring(1) if quick_time.monotonic() > 1 else None
    assert scene.ids(1) == ["id-1"]


@pytest.mark.parametrize(("code", "problem"), [(37, Blocked), (7, LoginLost)])
def test_a_refusal_without_a_check_in_sight_is_told(quick_time: QuickTime, code: int, problem: type[Exception]) -> None:
    scene = Scene(quick_time, {1: [refusal(code)]})
    with pytest.raises(problem, match=f"code {code}.*see to it in its window"):
        scene.ids(1)
    assert len(scene.window.opened) == 1


def test_what_is_no_refusal_is_raised_at_once(quick_time: QuickTime) -> None:
    with pytest.raises(ServerFault):
        Scene(quick_time, {1: [Answer(500, "", b"")]}).ids(1)
    assert quick_time.monotonic() < 1


def test_a_failed_request_of_the_page_is_unreachable(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {})
    scene.window.heard.append(Heard(Asked("Python", 1), failure="net::ERR_CONNECTION_RESET"))
    with pytest.raises(Unreachable, match="ERR_CONNECTION_RESET"):
        scene.ids(1)


@pytest.mark.parametrize(
    ("status", "problem", "told"), [(200, Unreachable, "did not ask its server"), (403, Blocked, "HTTP 403")]
)
def test_a_search_page_that_asks_nothing_is_not_waited_for_for_ever(
    quick_time: QuickTime, status: int, problem: type[Exception], told: str
) -> None:
    with pytest.raises(problem, match=told):
        Scene(quick_time, {}, status, answer_wait_seconds=9).ids(1)
    assert quick_time.monotonic() == pytest.approx(9, abs=0.3)


def test_a_request_that_is_sent_and_not_answered_is_not_made_twice(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {1: [jobs(1)]})
    scene.ids(1)
    scene.window.heard.append(Heard(Asked("Python", 2)))
    with pytest.raises(Unreachable, match="got no answer"):
        scene.ids(2)
    assert scene.window.moves == 1


def test_after_trouble_the_search_page_is_opened_anew(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {1: [jobs(1)], 2: [Answer(500, "", b""), jobs(2)]})
    scene.ids(1)
    with pytest.raises(ServerFault):
        scene.ids(2)
    assert scene.ids(2) == ["id-2"]
    assert len(scene.window.opened) == 2


def person_comes_after(scene: Scene, time: QuickTime, seconds: float) -> None:
    def look() -> None:
        if time.monotonic() > seconds:
            scene.window.in_sight = None

    scene.window.on_listen = look


@pytest.mark.parametrize("signs", [BOSS.check, BOSS.login])
def test_a_check_waits_for_a_person_and_the_search_begins_anew(
    quick_time: QuickTime, pages: dict[int, list[Answer]], signs: Signs, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(quick_time, pages)
    scene.ids(1)
    scene.window.in_sight = signs
    person_comes_after(scene, quick_time, 20)
    with caplog.at_level("INFO"):
        assert scene.ids(2) == ["id-2"]
    assert len(scene.window.opened) == 2
    assert "the check" in caplog.text
    assert "waiting for 900 s at most" in caplog.text
    assert "going on" in caplog.text


def test_a_board_that_leads_back_after_the_check_is_not_asked_twice(
    quick_time: QuickTime, pages: dict[int, list[Answer]]
) -> None:
    scene = Scene(quick_time, pages)
    scene.window.in_sight = BOSS.check

    def led_back() -> None:
        if scene.window.in_sight:
            scene.window.in_sight = None
            scene.window.bring(1)

    scene.window.on_listen = led_back
    assert scene.ids(1) == ["id-1"]
    assert len(scene.window.opened) == 1


@pytest.mark.parametrize(("signs", "problem"), [(BOSS.check, Blocked), (BOSS.login, LoginLost)])
def test_a_check_that_nobody_passes_is_told_with_what_to_do(
    quick_time: QuickTime, signs: Signs, problem: type[Exception]
) -> None:
    scene = Scene(quick_time, {}, person_wait_seconds=30)
    scene.window.in_sight = signs
    with pytest.raises(problem, match=r"shows the board's .* \(the check\), and nobody saw to it within 30 s"):
        scene.ids(1)
    assert not scene.window.closed


def test_a_check_that_comes_again_and_again_is_a_block(quick_time: QuickTime, pages: dict[int, list[Answer]]) -> None:
    scene = Scene(quick_time, pages)
    looks = iter(range(10**6))
    scene.window.in_sight = BOSS.check

    def come_and_go() -> None:
        scene.window.in_sight = BOSS.check if next(looks) % (LOOKS_WITHOUT + 2) == 0 else None
        scene.window.heard.clear()

    scene.window.on_listen = come_and_go
    with pytest.raises(Blocked, match="again and again"):
        scene.ids(1)


def test_the_stop_signal_ends_the_wait_for_a_person(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {})
    scene.window.in_sight = BOSS.check
    scene.window.on_listen = quick_time.stop
    with pytest.raises(Stopped, match="told to stop while the browser's window shows"):
        scene.ids(1)
    assert quick_time.monotonic() < 1


def test_the_stop_signal_ends_the_way_to_a_later_page(quick_time: QuickTime, pages: dict[int, list[Answer]]) -> None:
    scene = Scene(quick_time, pages)
    quick_time.on_wait = lambda seconds: quick_time.stop() if seconds >= 3 else None
    with pytest.raises(Stopped, match="at page 1, on the way to page 3"):
        scene.ids(3)


def test_closing_the_search_closes_the_window(quick_time: QuickTime) -> None:
    scene = Scene(quick_time, {})
    scene.search.close()
    assert scene.window.closed

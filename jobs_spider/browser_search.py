"""The browser way through a search: from the board's search page to result page N, as a person would get there.

The window is only looked at. A check or a login is never passed from here: the search waits until a person has seen
to it, and then begins anew.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from jobs_spider.board import Answer, Blocked, CrawlProblem, LoginLost, Page, Stopped, Unreachable
from jobs_spider.search_page import Asked, SearchPage, Signs
from jobs_spider.settings import BrowserSettings, SpiderSettings, WrongSetting
from jobs_spider.timekeeper import Timekeeper

log = logging.getLogger(__name__)

# How long a refusal may still turn into a check page, or into a better answer to the page's own second try.
SETTLE_SECONDS = 2.0
# A click whose request does not come at once may still be at work; a second one would skip a page.
CLICK_AGAIN_SECONDS = 5.0
# Looks in a row without a check before it counts as passed: between its pages there is a moment without one.
LOOKS_WITHOUT = 6
MOST_CHECKS = 3
# The readers' advice is for the other way.
NO_COOKIES = "(Pages come from the browser: see to it in its window, no cookies are copied.)"
REFUSING_STATUSES = (403, 405, 429)


@dataclass(frozen=True)
class Heard:
    """What was heard of a search request of the page: that it was sent, its answer, or its failure."""

    asked: Asked
    answer: Answer | None = None
    failure: str = ""


class Window(Protocol):
    """One browser window, as the search needs it. Each call may raise Unreachable when the window is gone."""

    def open(self, address: str) -> int:
        """Go to this address; the HTTP status of what came."""

    def go_on(self, next_button: str | None) -> None:
        """Click the button, or scroll on when there is none."""

    def listen(self) -> list[Heard]:
        """Let the browser work for a moment; what was heard since the last call."""

    def sees(self, signs: Signs) -> str | None:
        """What of these signs is in sight."""

    def close(self) -> None:
        """Leave the browser; a browser that was there before us stays."""


@dataclass(frozen=True)
class Reached:
    """Where the window stands: the result page that was read last."""

    city_code: str
    job: str
    number: int
    page: Page


class PersonHelped(Exception):
    """A person has passed a check or logged in: the search begins anew."""


class BrowserSearch:
    """Result pages out of the operator's browser, in the thread that asks for the first one."""

    def __init__(
        self,
        window: Window,
        search_page: SearchPage,
        read: Callable[[Answer, int], Page],
        timekeeper: Timekeeper,
        browser: BrowserSettings,
        spider: SpiderSettings,
    ) -> None:
        self._window = window
        self._search_page = search_page
        self._read = read
        self._time = timekeeper
        self._settings = browser
        self._pauses = (spider.pause_min_seconds, spider.pause_max_seconds)
        self._reached: Reached | None = None
        self._job = ""
        self._status = 200
        self._sent: set[int] = set()
        self._heard: dict[int, Heard] = {}

    def close(self) -> None:
        self._window.close()

    def page(self, city_code: str, job: str, number: int) -> Page:
        """This result page. Pages on the way to it are turned and not handed out.

        1. Where the window stands at the page before: one page further. Else the search page is opened anew; that
           is so for a new keyword, after a resume, and after any trouble.
        2. Each page is read from the page's own request for it; scrolling or clicking goes on until it is sent.
        3. A check or login in sight: wait for a person, then from 1 again.
        """
        before, self._reached = self._reached, None
        if before and (before.city_code, before.job, before.number + 1) != (city_code, job, number):
            before = None
        if not before:
            self._forget()
        for _ in range(MOST_CHECKS):
            try:
                page = self._reach(before, city_code, job, number)
            except PersonHelped:
                before = None
                continue
            self._reached = Reached(city_code, job, number, page)
            return page
        raise Blocked("the board shows its check again and again. Go slower, or wait some hours.")

    def _reach(self, before: Reached | None, city_code: str, job: str, number: int) -> Page:
        at, page = (before.number, before.page) if before else (1, self._first_page(city_code, job))
        while at < number:
            if not page.has_more:
                return Page([], (), has_more=False, total_pages=page.total_pages)
            if not before:
                self._pause(at, number)
            at += 1
            page = self._await(at)
        return page

    def _first_page(self, city_code: str, job: str) -> Page:
        self._job = job
        # After a check the board may have led back to the search by itself.
        if not self._sent:
            self._status = self._window.open(self._search_page.address(city_code, job))
        return self._await(1)

    def _pause(self, at: int, number: int) -> None:
        self._time.wait(self._time.between(*self._pauses))
        if self._time.stopping:
            raise Stopped(f"told to stop at page {at}, on the way to page {number}")

    def _await(self, number: int) -> Page:
        """The page's own answer for this result page, or the trouble that shows instead."""
        trouble: CrawlProblem | None = None
        deadline = self._time.monotonic() + self._settings.answer_wait_seconds
        next_move = 0.0
        while True:
            # First, since the page may have gone on while the spider paused.
            self._listen()
            outcome = self._outcome(number)
            if isinstance(outcome, Page):
                return outcome
            if outcome:
                trouble, deadline = outcome, min(deadline, self._time.monotonic() + SETTLE_SECONDS)
            self._see_to_check()
            now = self._time.monotonic()
            if now >= deadline:
                raise trouble or self._no_answer(number)
            if number > 1 and number not in self._sent and now >= next_move:
                self._window.go_on(self._search_page.next_button)
                next_move = now + (CLICK_AGAIN_SECONDS if self._search_page.next_button else 0.0)

    def _outcome(self, number: int) -> Page | CrawlProblem | None:
        heard = self._heard.pop(number, None)
        if heard is None:
            return None
        if heard.answer is None:
            return Unreachable(f"the page's own request failed ({heard.failure}). Check the network.")
        try:
            return self._read(heard.answer, number)
        except (Blocked, LoginLost) as refusal:
            # Not the end yet: the board's script may show a check for it, which a person can pass.
            return type(refusal)(f"{refusal} {NO_COOKIES}")

    def _no_answer(self, number: int) -> CrawlProblem:
        if self._status in REFUSING_STATUSES:
            return Blocked(f"HTTP {self._status} for the search page. Look at the browser's window.")
        asked = "got no answer" if number in self._sent else "did not ask its server"
        return Unreachable(
            f"the search page {asked} for result page {number} within {self._settings.answer_wait_seconds:.0f} s. "
            "Look at the browser's window."
        )

    def _listen(self) -> None:
        for heard in self._window.listen():
            if heard.asked.job.strip().casefold() != self._job.strip().casefold():
                continue
            self._sent.add(heard.asked.page)
            if heard.answer or heard.failure:
                self._heard[heard.asked.page] = heard

    def _forget(self) -> None:
        self._sent.clear()
        self._heard.clear()

    def _see_to_check(self) -> None:
        needed = self._person_needed()
        if needed:
            self._wait_for_person(needed)
            raise PersonHelped

    def _person_needed(self) -> Blocked | LoginLost | None:
        if seen := self._window.sees(self._search_page.check):
            return Blocked(f"the browser's window shows the board's check ({seen})")
        if seen := self._window.sees(self._search_page.login):
            return LoginLost(f"the browser's window shows the board's login ({seen})")
        return None

    def _wait_for_person(self, needed: Blocked | LoginLost) -> None:
        longest = self._settings.person_wait_seconds
        log.warning("%s: %s. See to it there; waiting for %.0f s at most.", self._search_page.source, needed, longest)
        self._forget()
        until = self._time.monotonic() + longest
        looks_without = 0
        while looks_without < LOOKS_WITHOUT:
            if self._time.stopping:
                raise Stopped(f"told to stop while {needed}")
            if self._time.monotonic() >= until:
                raise type(needed)(f"{needed}, and nobody saw to it within {longest:.0f} s. See to it in the window.")
            self._listen()
            looks_without = 0 if self._person_needed() else looks_without + 1
        log.info("%s: somebody has seen to it, going on", self._search_page.source)


def search_in_browser(
    search_page: SearchPage, read: Callable[[Answer, int], Page], spider: SpiderSettings, timekeeper: Timekeeper
) -> BrowserSearch:
    """The browser way through this board's search page."""
    settings = BrowserSettings.load()
    try:
        # Here, because Playwright is an extra that the other way does not need.
        from jobs_spider.browser import BrowserWindow  # noqa: PLC0415
    except ModuleNotFoundError:
        name = f"{search_page.source.upper()}_FETCH"
        raise WrongSetting(
            f"{name}: `browser` needs Playwright, the extra `browser`: python -m pip install '.[browser]'"
        ) from None
    window = BrowserWindow(settings, search_page.asked)
    return BrowserSearch(window, search_page, read, timekeeper, settings, spider)

"""When a board may be asked: pauses between pages, the machine's rate limit and page budget, night hours, cool-downs.

CrawlProblem
└── Resting               nothing may be asked for a while: the keyword goes back, its checkpoint stays
    ├── NightHours
    ├── BudgetSpent
    └── CoolingDown       another worker of this process met trouble
"""

import sqlite3
from datetime import datetime, time, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

from jobs_spider.board import CrawlProblem, OutputFailed, Stopped
from jobs_spider.cooldown import CoolDown
from jobs_spider.ledger import Ledger
from jobs_spider.night import Night
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper

EXIT_RESTING = 8
# A machine that nobody has asked anything from for so long is a fresh visitor again.
FORGOTTEN_SECONDS = 1800.0
MOST_SLOWDOWNS = 2


class Resting(CrawlProblem):
    """Nothing may be asked of the board before `until`."""

    close_as = "other"
    exit_code = EXIT_RESTING
    # Spiders that may all go on at the same moment come back spread over this time.
    spread_seconds: ClassVar[float] = 60.0

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class NightHours(Resting):
    """It is night."""

    reason = "night hours"


class BudgetSpent(Resting):
    """The day's pages have all been asked for."""

    reason = "page budget"


class CoolingDown(Resting):
    """Another worker has just met trouble."""

    reason = "cooling down"
    spread_seconds = 0.0


class Pacer:
    """The polite pause between two pages, also between the last page of a keyword and the first of the next."""

    def __init__(self, timekeeper: Timekeeper, settings: SpiderSettings) -> None:
        self._time = timekeeper
        self._shortest = settings.pause_min_seconds
        self._longest = settings.pause_max_seconds
        self._slower_after = settings.slower_after_pages
        self._slower_by = settings.slower_factor
        self._pages = 0
        self._last_page_at = 0.0

    def pause(self) -> None:
        if self._pages and self._time.monotonic() - self._last_page_at >= FORGOTTEN_SECONDS:
            self._pages = 1
        if self._pages:
            self._time.wait(self._time.between(self._shortest, self._longest) * self._slowness())
        self._pages += 1
        self._last_page_at = self._time.monotonic()

    def _slowness(self) -> float:
        """Longer pauses after many pages, and once more after twice as many."""
        steps = self._pages // self._slower_after if self._slower_after else 0
        return self._slower_by ** min(steps, MOST_SLOWDOWNS)


class Turns:
    """Says when this worker may ask the board, together with all other spiders on the machine."""

    def __init__(
        self, timekeeper: Timekeeper, ledger: Ledger, night: Night, zone: ZoneInfo, cool_down: CoolDown
    ) -> None:
        self._time = timekeeper
        self._ledger = ledger
        self._night = night
        self._zone = zone
        self._cool_down = cool_down

    def take(self) -> None:
        """Wait until one request may be made, and count it. Raises Resting, Stopped or OutputFailed."""
        try:
            while True:
                if rest := self.rest():
                    raise rest
                seconds = self._ledger.seconds_to_wait(self._time.now())
                if not seconds:
                    break
                self._time.wait(seconds)
                if self._time.stopping:
                    raise Stopped("told to stop while waiting for a turn")
            if not self._ledger.count_page(self._time.now().astimezone(self._zone).date()):
                raise self._budget_spent()
        except (OSError, sqlite3.Error) as error:
            # Without the count of what was asked, nothing is asked.
            raise OutputFailed(
                f"requests cannot be counted ({error}). Make room, or correct the folder beside SPIDER_OUTPUT_DIR."
            ) from error

    def rest(self) -> Resting | None:
        """Why nothing may be asked at all for now."""
        now = self._time.now()
        if left := self._cool_down.seconds_left():
            until = now + timedelta(seconds=left)
            return CoolingDown(f"the spider pauses after {self._cool_down.reason!r}", until)
        if end := self._night.end(now):
            return NightHours(f"nothing is asked before {_told(end, self._zone)} (SPIDER_NIGHT_HOURS)", end)
        return self._budget_spent() if self._is_spent(now) else None

    def _is_spent(self, now: datetime) -> bool:
        try:
            return self._ledger.is_spent(now.astimezone(self._zone).date())
        except (OSError, sqlite3.Error):
            # Told when a page is to be asked for and cannot be counted.
            return False

    def _budget_spent(self) -> BudgetSpent:
        tomorrow = self._time.now().astimezone(self._zone).date() + timedelta(days=1)
        until = datetime.combine(tomorrow, time(), self._zone)
        message = f"the day's pages of this machine are used up, nothing is asked before {_told(until, self._zone)}"
        return BudgetSpent(message, until)


def _told(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"

"""The state machine of DESIGN section 2 once more, small and slow, written from its words and not from the service.

Everything here happens in this process; `machine.py` does the same to the real service and compares.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

LEASE = timedelta(minutes=30)
MOST_TRIES = 3


class Refused(Exception):
    """A call that the service is to refuse: with this status and problem."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(f"{status} {problem}")
        self.answer = (status, problem)


LOST = Refused(409, "claim-lost")
WRONG_STATE = Refused(409, "wrong-state")


@dataclass
class Keyword:
    """One keyword, and what its last claim has come to."""

    id: int
    job: str
    day: date | None = None
    asked_at: datetime | None = None
    # idle with a day: taken by a spider that reports nothing.
    status: str = "idle"
    page: int = 0
    claim_page: int = 0
    total: int | None = None
    jobs: int = 0
    tries: int = 0
    token: str = ""
    crawler: str | None = None
    lease: datetime | None = None
    # Since when a partial or failed keyword waits for its next spider.
    waits_since: datetime | None = None
    # Ended by silence alone: its spider may still come back to life.
    silent: bool = False


@dataclass
class Model:
    zone: ZoneInfo
    now: datetime
    keywords: dict[int, Keyword] = field(default_factory=dict)
    history: dict[tuple[int, date], tuple[str, int, int, int]] = field(default_factory=dict)
    paused: bool = False

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def is_alive(self, keyword: Keyword) -> bool:
        return keyword.status == "crawling" and keyword.lease is not None and keyword.lease > self.now

    def after_silence(self, keyword: Keyword) -> tuple[str, int]:
        """State and tries of a claim that ended without a word (I6)."""
        return ("partial", keyword.tries) if keyword.page > keyword.claim_page else ("failed", keyword.tries + 1)

    def standing(self, keyword: Keyword) -> tuple[str, int]:
        """What a claim would find: state and tries; `idle` begins at page 1."""
        if keyword.day is None or keyword.day < self.today:
            return "idle", 0
        return self.after_silence(keyword) if keyword.status == "crawling" else (keyword.status, keyword.tries)

    def claimable(self) -> list[Keyword]:
        """Who is handed out, in order: partial and stale, failed with tries left, fresh; longest waiting first."""
        ranked = []
        for keyword in self.keywords.values():
            state, tries = self.standing(keyword)
            fresh = keyword.day is None or keyword.day < self.today
            if self.is_alive(keyword) or (state == "failed" and tries >= MOST_TRIES):
                continue
            stale = keyword.status == "crawling" and not fresh
            since = keyword.lease if stale else keyword.waits_since
            if fresh:
                ranked.append((3, str(keyword.day or ""), keyword.id))
            elif stale or state == "partial":
                ranked.append((1, since.isoformat() if since else "", keyword.id))
            elif state == "failed":
                ranked.append((2, since.isoformat() if since else "", keyword.id))
        return [self.keywords[identity] for _, _, identity in sorted(ranked)]

    def claim(self, keyword: Keyword, crawler: str | None, token: str) -> dict[str, Any]:
        """Hand it out; what the answer says of it."""
        state, tries = self.standing(keyword)
        # As for a sweep, a state of today is what counts, and everything else starts anew.
        if keyword.day is None or keyword.day < self.today:
            self.keep_history(keyword)
            keyword.page, keyword.total, keyword.jobs = 0, None, 0
        keyword.day, keyword.asked_at, keyword.tries, keyword.claim_page = self.today, self.now, tries, keyword.page
        keyword.token, keyword.crawler, keyword.silent = token, crawler, False
        keyword.waits_since = None
        keyword.status, keyword.lease = ("crawling", self.now + LEASE) if crawler else ("idle", None)
        return {
            "last_completed_page": keyword.page,
            "total_pages": keyword.total,
            "crawl_status": state,
            "retry_count": tries,
        }

    def keep_history(self, keyword: Keyword) -> None:
        if keyword.day is None:
            return
        state, tries = self.after_silence(keyword) if keyword.status == "crawling" else (keyword.status, keyword.tries)
        name = "untracked" if state == "idle" else state
        self.history[keyword.id, keyword.day] = (name, keyword.page, keyword.jobs, tries)

    def holds(self, keyword: Keyword, token: str | None, crawler: str | None) -> bool:
        """Whether a report that names these speaks for the keyword's claim."""
        if crawler is not None and crawler != keyword.crawler:
            return False
        if token is None:
            recent = keyword.asked_at is not None and keyword.asked_at > self.now - LEASE
            untracked = keyword.status == "idle" and (keyword.day == self.today or recent)
            return keyword.status == "crawling" or untracked
        if token != keyword.token:
            return False
        return keyword.status in ("crawling", "idle") or keyword.silent

    def check_own(self, keyword: Keyword, token: str | None, crawler: str | None) -> None:
        if (token and token != keyword.token) or (crawler is not None and crawler != keyword.crawler):
            raise LOST

    def is_own_day(self, keyword: Keyword, token: str | None) -> bool:
        return bool(token) or keyword.status == "crawling" or keyword.day == self.today

    def revive(self, keyword: Keyword) -> None:
        if keyword.status == "failed":
            keyword.tries -= 1
        keyword.status, keyword.lease, keyword.silent = "crawling", self.now + LEASE, False
        keyword.waits_since = None

    def progress(
        self, keyword: Keyword, page: int, jobs: int, total: int | None, token: str | None, crawler: str | None
    ) -> dict[str, Any]:
        if self.holds(keyword, token, crawler) and page > keyword.page:
            self.revive(keyword)
            keyword.page, keyword.jobs, keyword.total = page, keyword.jobs + jobs, total or keyword.total
            return {"applied": True, "last_completed_page": page}
        self.check_own(keyword, token, crawler)
        if page > keyword.page or not self.is_own_day(keyword, token):
            raise WRONG_STATE
        if self.holds(keyword, token, crawler):
            self.revive(keyword)
        return {"applied": False, "last_completed_page": keyword.page}

    def end(self, keyword: Keyword, outcome: str, token: str | None, crawler: str | None) -> dict[str, Any]:
        """Completed or failed."""
        if self.holds(keyword, token, crawler):
            if outcome == "completed":
                keyword.tries -= keyword.status == "failed"
            else:
                keyword.tries += keyword.status != "failed"
                keyword.waits_since = self.now
            keyword.status, keyword.lease, keyword.silent = outcome, None, False
            return {"applied": True, "crawl_status": outcome, "retry_count": keyword.tries}
        self.check_own(keyword, token, crawler)
        if keyword.status != outcome or not self.is_own_day(keyword, token):
            raise WRONG_STATE
        return {"applied": False, "crawl_status": outcome, "retry_count": keyword.tries}

    def heartbeat(self, keyword: Keyword, token: str) -> int:
        if not self.holds(keyword, token, None):
            self.check_own(keyword, token, None)
            raise WRONG_STATE
        self.revive(keyword)
        return 1

    def heartbeat_of(self, crawler: str) -> int:
        held = [each for each in self.keywords.values() if each.crawler == crawler and each.status == "crawling"]
        for keyword in held:
            keyword.lease = self.now + LEASE
        return len(held)

    def give_back(self, keyword: Keyword, reason: str) -> None:
        if reason == "restarted":
            self.fall_silent(keyword)
        else:
            keyword.tries -= keyword.status == "failed"
            keyword.status = "partial"
        keyword.waits_since, keyword.lease, keyword.silent = self.now, None, False

    def fall_silent(self, keyword: Keyword) -> None:
        already = keyword.status == "failed"
        keyword.status, tries = self.after_silence(keyword)
        keyword.tries = keyword.tries if already else tries
        keyword.waits_since, keyword.silent = self.now, True

    def release(self, keyword: Keyword, token: str, reason: str) -> int:
        if self.holds(keyword, token, None):
            self.give_back(keyword, reason)
            return 1
        self.check_own(keyword, token, None)
        return int(keyword.status == "partial")

    def release_of(self, crawler: str, reason: str) -> int:
        held = [each for each in self.keywords.values() if each.crawler == crawler and each.status == "crawling"]
        for keyword in held:
            self.give_back(keyword, reason)
        return len(held)

    def sweep(self) -> int:
        stale = [each for each in self.keywords.values() if each.status == "crawling" and not self.is_alive(each)]
        for keyword in stale:
            self.fall_silent(keyword)
        return len(stale)

    def mark_used(self, keyword: Keyword, token: str) -> bool:
        if keyword not in self.claimable():
            return False
        self.claim(keyword, None, token)
        return True

    def state(self, keyword: Keyword) -> str:
        """What people see today."""
        if keyword.day != self.today and not self.is_alive(keyword):
            return "idle"
        return "untracked" if keyword.status == "idle" else keyword.status

    def stats(self) -> dict[str, int]:
        counts = dict.fromkeys(("crawling", "completed", "failed", "partial", "untracked"), 0)
        for keyword in self.keywords.values():
            if keyword.day == self.today:
                counts["untracked" if keyword.status == "idle" else keyword.status] += 1
        return counts

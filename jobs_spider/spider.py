"""A spider's life: claim keywords and crawl them, wait when there are none, pause when a board refuses, leave well."""

import logging
import threading

from jobs_spider.client import Claim, NothingToDo, ServiceError, ServiceUnreachable
from jobs_spider.crawl import EXIT_SERVICE, Ending, KeywordCrawl, Kit
from jobs_spider.turns import EXIT_RESTING, Resting

log = logging.getLogger(__name__)

SHORTEST_IDLE_SECONDS = 1.0
LONGEST_REST_STEP_SECONDS = 900.0


class Quota:
    """How many keywords the workers of a process may claim together; `most=None`: any number, until told to stop."""

    def __init__(self, most: int | None) -> None:
        self.bounded = most is not None
        self._left = most
        self._lock = threading.Lock()

    def take(self) -> bool:
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            return self._left >= 0


class Spider:
    """Crawls until told to stop, or, when the quota is bounded, until it is used up or no keyword is left."""

    def __init__(self, kit: Kit, quota: Quota) -> None:
        self._kit = kit
        self._time = kit.timekeeper
        self._settings = kit.settings
        self._quota = quota
        self._done = 0
        self._resting_because = ""
        # Why keywords may be held in our name without our knowing: by an earlier life with the same stable id, or by
        # a claim whose answer was lost. Given back before the next claim.
        self._unseen_claims_because = "restarted" if kit.settings.id else None

    def run(self) -> int:
        """The exit code."""
        code: int | None = None
        try:
            while code is None and not self._time.stopping:
                code = self._step()
        except ServiceError as error:
            log.error("leaving, no keyword can be claimed at %s: %s", self._settings.base_url, error)
            return EXIT_SERVICE
        self._kit.view.state = "left"
        log.info("left after keywords=%d", self._done)
        return code or 0

    def _step(self) -> int | None:
        """Rest, wait, or crawl one keyword. The exit code when the spider is to leave."""
        if rest := self._kit.turns.rest():
            return self._rest(rest)
        if not self._quota.take():
            return 0
        work = self._next_claim()
        if isinstance(work, NothingToDo):
            return self._idle(work)
        ending = self._crawl(work)
        self._done += 1
        if not ending.exit_code:
            # Only a page that came tells that a trouble is over, not a keyword that needed none.
            if ending.pages:
                self._kit.cool_down.page_came()
            return None
        if ending.exit_code != EXIT_RESTING:
            self._kit.cool_down.begin(ending.reason)
        return ending.exit_code if self._quota.bounded and not self._time.stopping else None

    def _crawl(self, claim: Claim) -> Ending:
        log.info(
            "claimed %s from_page=%d state=%s retries=%d",
            claim,
            claim.last_completed_page + 1,
            claim.crawl_status,
            claim.retry_count,
        )
        return KeywordCrawl(self._kit, claim).run()

    def _next_claim(self) -> Claim | NothingToDo:
        """Claim, however long the service is away; a bounded run loses patience."""
        attempt, give_up_at = 0, self._time.monotonic() + self._settings.delivery_patience_seconds
        while not self._time.stopping:
            self._kit.view.rest("claiming")
            try:
                # First of all: what is still owed counts only as long as nobody has released its claim.
                self._kit.outbox.deliver(self._kit.client)
                self._release_unseen()
                return self._claim()
            except ServiceUnreachable as error:
                longest = self._settings.idle_wait_max_seconds
                pause = self._time.backoff(attempt, self._settings.service_backoff_seconds, longest)
                pause = max(pause, min(error.retry_after, longest))
                if self._quota.bounded and self._time.monotonic() + pause > give_up_at:
                    raise
                log.warning("no answer to a claim, next try in %.0f s: %s", pause, error)
            self._kit.view.rest("waiting for the service")
            self._time.wait(pause)
            attempt += 1
        return NothingToDo(0.0)

    def _claim(self) -> Claim | NothingToDo:
        try:
            return self._kit.client.claim()
        except ServiceUnreachable:
            self._free_lost_claim()
            raise

    def _free_lost_claim(self) -> None:
        """Free at once what the lost answer may have given us, so that others need not wait for it.

        It stays owed and is done once more after the wait: a slow claim may be carried out only after this release.
        """
        self._unseen_claims_because = "network"
        try:
            self._kit.client.release_all(self._unseen_claims_because)
        except ServiceUnreachable as error:
            log.warning("a claim may be held in our name until it is released: %s", error)

    def _release_unseen(self) -> None:
        if self._unseen_claims_because:
            self._kit.client.release_all(self._unseen_claims_because)
            self._unseen_claims_because = None

    def _idle(self, nothing: NothingToDo) -> int | None:
        why = f" ({nothing.reason})" if nothing.reason else ""
        if self._quota.bounded:
            log.info("nothing to do%s, leaving", why)
            return 0
        asked = self._settings.idle_wait_seconds if nothing.retry_after is None else nothing.retry_after
        seconds = max(SHORTEST_IDLE_SECONDS, min(asked, self._settings.idle_wait_max_seconds))
        seconds *= self._time.between(1.0, 1.25)
        log.info("nothing to do%s, waiting %.0f s", why, seconds)
        self._kit.view.rest(f"nothing to do{why}")
        self._time.wait(seconds)
        return None

    def _rest(self, rest: Resting) -> int | None:
        """Wait until the board may be asked again, in steps: a machine may sleep, and its clock be set meanwhile."""
        if self._quota.bounded:
            log.warning("leaving, %s: %s", rest.reason, rest)
            return rest.exit_code
        if self._resting_because != str(rest):
            self._resting_because = str(rest)
            log.info("resting, %s: %s", rest.reason, rest)
        self._kit.view.rest(f"resting: {rest.reason}")
        left = (rest.until - self._time.now()).total_seconds()
        self._time.wait(min(left, LONGEST_REST_STEP_SECONDS) + self._time.between(0.0, rest.spread_seconds))
        return None

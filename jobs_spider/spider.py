"""A spider's life: claim keywords and crawl them, wait when there are none, pause when a board refuses, leave well."""

import logging

from jobs_spider.client import Claim, NothingToDo, ServiceError, ServiceUnreachable
from jobs_spider.crawl import EXIT_SERVICE, Ending, KeywordCrawl, Kit

log = logging.getLogger(__name__)

SHORTEST_IDLE_SECONDS = 1.0


class Spider:
    """Crawls until told to stop, or, when `most_keywords` is given, until so many are done or none is left."""

    def __init__(self, kit: Kit, most_keywords: int | None) -> None:
        self._kit = kit
        self._time = kit.timekeeper
        self._settings = kit.settings
        self._most_keywords = most_keywords
        self._troubles_in_a_row = 0
        # Why keywords may be held in our name without our knowing: by an earlier life with the same stable id, or by
        # a claim whose answer was lost. Given back before the next claim.
        self._unseen_claims_because = "restarted" if kit.settings.id else None

    def run(self) -> int:
        """The exit code."""
        done = 0
        while not self._time.stopping and done != self._most_keywords:
            try:
                work = self._next_claim()
            except ServiceError as error:
                log.error("leaving, no keyword can be claimed at %s: %s", self._settings.base_url, error)
                return EXIT_SERVICE
            if isinstance(work, Claim):
                ending = self._crawl(work)
                done += 1
                if ending.exit_code and self._bounded and not self._time.stopping:
                    return ending.exit_code
                self._recover_from(ending)
            elif self._bounded:
                log.info("nothing to do, leaving")
                break
            else:
                self._idle(work)
        log.info("left after keywords=%d", done)
        return 0

    @property
    def _bounded(self) -> bool:
        return self._most_keywords is not None

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
            try:
                self._release_unseen()
                return self._kit.client.claim()
            except ServiceUnreachable as error:
                self._free_lost_claim()
                longest = self._settings.idle_wait_max_seconds
                pause = self._time.backoff(attempt, self._settings.service_backoff_seconds, longest)
                pause = max(pause, min(error.retry_after, longest))
                if self._bounded and self._time.monotonic() + pause > give_up_at:
                    raise
                log.warning("no answer to a claim, next try in %.0f s: %s", pause, error)
            self._time.wait(pause)
            attempt += 1
        return NothingToDo(0.0)

    def _free_lost_claim(self) -> None:
        """Free at once what the lost answer may have given us, so that others need not wait for it.

        It stays owed and is done once more after the wait: a slow claim may be carried out only after this release.
        """
        if self._unseen_claims_because:
            return
        self._unseen_claims_because = "network"
        try:
            self._kit.client.release_all(self._unseen_claims_because)
        except ServiceUnreachable as error:
            log.warning("a claim may be held in our name until it is released: %s", error)

    def _release_unseen(self) -> None:
        if self._unseen_claims_because:
            self._kit.client.release_all(self._unseen_claims_because)
            self._unseen_claims_because = None

    def _idle(self, nothing: NothingToDo) -> None:
        asked = self._settings.idle_wait_seconds if nothing.retry_after is None else nothing.retry_after
        seconds = max(SHORTEST_IDLE_SECONDS, min(asked, self._settings.idle_wait_max_seconds))
        seconds *= self._time.between(1.0, 1.25)
        log.info("nothing to do, waiting %.0f s", seconds)
        self._time.wait(seconds)

    def _recover_from(self, ending: Ending) -> None:
        """After trouble pause, twice as long each time in a row, instead of asking on."""
        if not ending.exit_code:
            # Only a page that came tells that the trouble is over, not a keyword that needed none.
            self._troubles_in_a_row = 0 if ending.pages else self._troubles_in_a_row
            return
        doubled = self._settings.trouble_pause_seconds * 2.0 ** min(self._troubles_in_a_row, 30)
        seconds = min(doubled, self._settings.trouble_pause_max_seconds) * self._time.between(1.0, 1.2)
        self._troubles_in_a_row += 1
        log.warning("pausing %.0f s after %r, the %d. in a row", seconds, ending.reason, self._troubles_in_a_row)
        self._time.wait(seconds)

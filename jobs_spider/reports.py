"""The reports of one claim: told in page order, kept while the service is away, never counted twice."""

import logging

from jobs_spider.client import Claim, KeywordClient, Owed, PageReport, ServiceUnreachable
from jobs_spider.outbox import Outbox
from jobs_spider.timekeeper import Timekeeper

log = logging.getLogger(__name__)

LONGEST_WAIT_SECONDS = 60.0


class Reports:
    """What the service has yet to hear about one claim."""

    def __init__(
        self,
        client: KeywordClient,
        outbox: Outbox,
        claim: Claim,
        timekeeper: Timekeeper,
        first_wait: float,
        patience: float,
    ) -> None:
        self._client = client
        self._outbox = outbox
        self._claim = claim
        self._time = timekeeper
        self._first_wait = first_wait
        self._patience = patience
        self.told_to_stop = False

    def add(self, report: PageReport) -> None:
        """Take up a stored page and tell the service now, or later when it is away."""
        self._outbox.put(self._client.page_report(self._claim, report))
        try:
            self._send()
        except ServiceUnreachable as error:
            log.warning("report kept %s page=%d waiting=%d: %s", self._claim, report.page, len(self._outbox), error)

    def _send(self) -> None:
        # In page order and each under its own number: the service ignores a page below its checkpoint, so a later
        # page must not overtake an earlier one.
        while owed := self._outbox.first():
            self.told_to_stop = self._client.deliver(owed) or self.told_to_stop
            self._outbox.drop_first()
            if owed.call == "page-progress":
                log.info("page reported %s page=%d jobs=%d", self._claim, owed.body["page"], owed.body["jobs_found"])

    def close(self, last: Owed) -> bool:
        """Deliver what is pending and then the last call. False when the service stayed away for too long."""
        self._outbox.put(last)
        give_up_at = self._time.monotonic() + self._patience
        attempt = 0
        while True:
            try:
                self._send()
                return True
            except ServiceUnreachable as error:
                pause = self._time.backoff(attempt, self._first_wait, LONGEST_WAIT_SECONDS)
                pause = max(pause, min(error.retry_after, LONGEST_WAIT_SECONDS))
                if self._time.stopping or self._time.monotonic() + pause > give_up_at:
                    self._give_up(error)
                    return False
                log.warning("service away %s, next try in %.0f s: %s", self._claim, pause, error)
            self._time.wait(pause)
            attempt += 1

    def forget(self) -> None:
        """The claim is lost: what is still owed about it counts no more."""
        self._outbox.clear()

    def _give_up(self, error: ServiceUnreachable) -> None:
        log.error(
            "gave up for now %s undelivered_calls=%d: %s. They are kept, and made before the next claim.",
            self._claim,
            len(self._outbox),
            error,
        )

"""The reports of one claim: told in page order, kept while the service is away, never counted twice."""

import logging
from collections import deque
from collections.abc import Callable

from jobs_spider.client import Claim, KeywordClient, PageReport, ServiceUnreachable
from jobs_spider.timekeeper import Timekeeper

log = logging.getLogger(__name__)

LONGEST_WAIT_SECONDS = 60.0


class Reports:
    """What the service has yet to hear about one claim."""

    def __init__(
        self, client: KeywordClient, claim: Claim, timekeeper: Timekeeper, first_wait: float, patience: float
    ) -> None:
        self._client = client
        self._claim = claim
        self._time = timekeeper
        self._first_wait = first_wait
        self._patience = patience
        self._pending: deque[PageReport] = deque()
        self.told_to_stop = False

    def add(self, report: PageReport) -> None:
        """Take up a stored page and tell the service now, or later when it is away."""
        self._pending.append(report)
        try:
            self._send_pending()
        except ServiceUnreachable as error:
            log.warning("report kept %s page=%d waiting=%d: %s", self._claim, report.page, len(self._pending), error)

    def _send_pending(self) -> None:
        # In page order and each under its own number: the service ignores a page below its checkpoint, so a later
        # page must not overtake an earlier one.
        while self._pending:
            report = self._pending[0]
            self.told_to_stop = self._client.report_page(self._claim, report) or self.told_to_stop
            self._pending.popleft()
            log.info("page reported %s page=%d jobs=%d", self._claim, report.page, report.jobs_found)

    def close(self, last_call: Callable[[], None]) -> bool:
        """Deliver what is pending and then the last call. False when the service stayed away for too long."""
        give_up_at = self._time.monotonic() + self._patience
        attempt = 0
        while True:
            try:
                self._send_pending()
                last_call()
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

    def _give_up(self, error: ServiceUnreachable) -> None:
        log.error(
            "gave up %s undelivered_pages=%d: %s. When the lease expires, another spider goes on after the last "
            "reported page.",
            self._claim,
            len(self._pending),
            error,
        )

"""The pause after trouble, shared by all workers of a process: one block is one pause, and never asked against."""

import logging
import threading

from jobs_spider.timekeeper import Timekeeper

log = logging.getLogger(__name__)

# Below this a pause is over: sums of fractions of seconds are not exact.
NOTHING_SECONDS = 0.01


class CoolDown:
    """Longer each time in a row, up to a longest."""

    def __init__(self, timekeeper: Timekeeper, first_seconds: float, longest_seconds: float) -> None:
        self._time = timekeeper
        self._first = first_seconds
        self._longest = longest_seconds
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._until = 0.0
        self.reason = ""

    def begin(self, reason: str) -> None:
        """Pause from now on. The other workers run into the same trouble: while a pause lasts, theirs begins none."""
        with self._lock:
            if self._seconds_left() > 0:
                return
            doubled = self._first * 2.0 ** min(self._in_a_row, 30)
            seconds = min(doubled, self._longest) * self._time.between(1.0, 1.2)
            self._in_a_row += 1
            self.reason = reason
            self._until = self._time.monotonic() + seconds
            log.warning("pausing %.0f s after %r, the %d. in a row", seconds, reason, self._in_a_row)

    def page_came(self) -> None:
        """The trouble is over; only a page that came tells that, not a keyword that needed none."""
        with self._lock:
            self._in_a_row = 0

    def seconds_left(self) -> float:
        with self._lock:
            return self._seconds_left()

    def _seconds_left(self) -> float:
        left = self._until - self._time.monotonic()
        return left if left > NOTHING_SECONDS else 0.0

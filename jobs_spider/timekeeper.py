"""The clock, the waiting and the dice of a spider, in one object that tests replace."""

import random
import threading
import time
from datetime import UTC, datetime

# Windows does not interrupt a lock that is being waited for, so a Ctrl-C would be heard only at the end of a wait.
SLICE_SECONDS = 0.5
# After the stop signal the last report may still need a second try; it waits this long at most.
LINGER_SECONDS = 0.5


class Timekeeper:
    """Real time. Every wait ends at once when the spider is told to stop."""

    def __init__(self, dice: random.Random | None = None) -> None:
        self._stop = threading.Event()
        self._dice = dice or random.Random()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def between(self, low: float, high: float) -> float:
        return self._dice.uniform(low, high)

    def wait(self, seconds: float) -> None:
        """Wait, or less when the stop signal comes. A wait begun after the signal is a short one."""
        if self.stopping:
            time.sleep(min(seconds, LINGER_SECONDS))
            return
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._stop.wait(min(left, SLICE_SECONDS)):
                return

    def backoff(self, attempt: int, base: float, longest: float) -> float:
        """The wait before try `attempt` + 1: doubling, and spread so that many spiders do not come back together."""
        full = min(longest, base * 2.0 ** min(attempt, 30))
        return self.between(full / 2, full)

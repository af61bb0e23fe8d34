"""Whether a keyword without any job is believed.

A board that blocks silently answers every search with nothing. So an empty first page is believed only while other
keywords bring jobs: when several in a row are empty, that is a suspected block and not a day of finished keywords.
"""

import threading


class EmptyPages:
    """The row of empty first pages, over all workers of a process."""

    def __init__(self, suspicious_after: int) -> None:
        self._suspicious_after = suspicious_after
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._doubted: set[int] = set()

    def jobs_came(self) -> None:
        with self._lock:
            self._in_a_row = 0

    def believes(self, keyword_id: int) -> bool:
        """Take up one more empty first page.

        A keyword that was doubted once and is empty again after the pause is believed: it is the first to be handed
        out again, and one that really has no jobs would keep all others waiting for ever.
        """
        with self._lock:
            self._in_a_row += 1
            few = self._in_a_row < self._suspicious_after or not self._suspicious_after
            if few or keyword_id in self._doubted:
                self._doubted.discard(keyword_id)
                return True
            self._doubted.add(keyword_id)
            return False

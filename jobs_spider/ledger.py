"""What was asked of one board from this machine, in a small SQLite file that all its spider processes share."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import cast

from pyrate_limiter import Duration, Rate, RateItem, SQLiteBucket

CREATE = "CREATE TABLE IF NOT EXISTS pages (source TEXT, day TEXT, asked INTEGER, PRIMARY KEY (source, day))"
FORGET = "DELETE FROM pages WHERE source = ? AND day < ?"
READ = "SELECT asked FROM pages WHERE source = ? AND day = ?"
# Under its condition the statement itself decides, whatever other processes do at the same time.
COUNT = "INSERT INTO pages VALUES (?, ?, 1) ON CONFLICT (source, day) DO UPDATE SET asked = asked + 1 WHERE asked < ?"
LOCK_SECONDS = 30


class Ledger:
    """The rate limit and the daily page budget of one board.

    Opened anew for each question: a request every few seconds makes that cheap, and no process holds a file that
    another one waits for.
    """

    def __init__(self, folder: Path, source: str, requests_per_minute: int, pages_per_day: int) -> None:
        self._path = folder / "asked.sqlite3"
        self._source = source
        self._rate = Rate(requests_per_minute, Duration.MINUTE)
        self._pages_per_day = pages_per_day

    def seconds_to_wait(self, now: datetime) -> float:
        """0 when one request may be made now, which is then counted; else the time after which to ask again.

        Never waits itself: the caller's waits end with the stop signal, the limiter's own would not.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        milliseconds = round(now.timestamp() * 1000)
        item = RateItem("page", milliseconds)
        with SQLiteBucket.init_from_file(
            [self._rate], f"rate_{self._source}", str(self._path), use_file_lock=True
        ) as bucket:
            bucket.leak(milliseconds)
            if bucket.put(item):
                return 0.0
            wait = cast(int, bucket.waiting(item))
            if wait > self._rate.interval + 1:
                # Only requests of the future can make it so long: the machine's clock was set back.
                bucket.flush()
                bucket.put(item)
                return 0.0
        return wait / 1000

    def is_spent(self, day: date) -> bool:
        """Whether the day's budget is used up."""
        if not self._pages_per_day:
            return False
        with closing(self._connect()) as connection, connection:
            asked = connection.execute(READ, (self._source, day.isoformat())).fetchone()
        return asked is not None and asked[0] >= self._pages_per_day

    def count_page(self, day: date) -> bool:
        """Take one page out of the day's budget. False when there is none left."""
        if not self._pages_per_day:
            return True
        with closing(self._connect()) as connection, connection:
            connection.execute(FORGET, (self._source, day.isoformat()))
            return connection.execute(COUNT, (self._source, day.isoformat(), self._pages_per_day)).rowcount > 0

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=LOCK_SECONDS)
        connection.execute(CREATE)
        return connection

"""The service's one clock. Read once per operation; the moment it gives is passed on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading of the clock.

    now: aware, in UTC, because the database driver stores the wall clock of what it is given.
    today: the business day.
    tomorrow: the first instant of the next business day, in UTC.
    """

    now: datetime
    today: date
    tomorrow: datetime


def system_time() -> datetime:
    """The machine's time, aware, in UTC."""
    return datetime.now(UTC)


class Clock:
    """Gives moments; tests hand in a `read` of their own and move it."""

    def __init__(self, timezone: ZoneInfo, read: Callable[[], datetime] = system_time) -> None:
        self._timezone = timezone
        self._read = read

    def moment(self) -> Moment:
        now = self._read().astimezone(UTC)
        today = now.astimezone(self._timezone).date()
        return Moment(now=now, today=today, tomorrow=_end_of_day(today, self._timezone))


@lru_cache(maxsize=8)
def _end_of_day(day: date, timezone: ZoneInfo) -> datetime:
    midnight = datetime.combine(day + timedelta(days=1), time.min, timezone)
    return midnight.astimezone(UTC)

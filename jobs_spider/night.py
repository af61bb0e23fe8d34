"""The hours of the night in which no board is asked anything."""

import re
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

HOURS = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")


def checked_hours(text: str) -> str:
    """The setting as it was given; raises ValueError when it names no hours."""
    read_hours(text)
    return text


def read_hours(text: str) -> tuple[time, time] | None:
    """`01:00-06:00` as two times of the day, empty as None."""
    if not text:
        return None
    found = HOURS.fullmatch(text)
    try:
        hours = [int(number) for number in found.groups()] if found else []
        begin, end = time(hours[0], hours[1]), time(hours[2], hours[3])
    except (ValueError, IndexError):
        raise ValueError("is not of the form 01:00-06:00") from None
    if begin == end:
        raise ValueError("begins and ends at the same time")
    return begin, end


class Night:
    """Night hours in the zone of the business day; they may cross midnight."""

    def __init__(self, hours: str, zone: ZoneInfo) -> None:
        self._hours = read_hours(hours)
        self._zone = zone

    def end(self, now: datetime) -> datetime | None:
        """When the night that it is now ends; None when it is day."""
        if self._hours is None:
            return None
        begin, end = self._hours
        local = now.astimezone(self._zone)
        clock = local.time()
        if not (begin <= clock < end or (begin > end and not end <= clock < begin)):
            return None
        day = local.date() + timedelta(days=1 if clock >= end else 0)
        return datetime.combine(day, end, self._zone).astimezone(UTC)

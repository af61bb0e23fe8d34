"""Night hours."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from jobs_spider.night import Night

SHANGHAI = ZoneInfo("Asia/Shanghai")


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-{text}").replace(tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    ("hours", "now", "end"),
    [
        ("", "02T03:00", None),
        ("01:00-06:00", "02T00:59", None),
        ("01:00-06:00", "02T01:00", "02T06:00"),
        ("01:00-06:00", "02T05:59", "02T06:00"),
        ("01:00-06:00", "02T06:00", None),
        ("23:30-06:00", "02T23:29", None),
        ("23:30-06:00", "02T23:30", "03T06:00"),
        ("23:30-06:00", "02T00:00", "02T06:00"),
        ("23:30-06:00", "02T06:00", None),
        ("1:05-2:00", "31T01:30", "31T02:00"),
        ("22:00-00:00", "31T23:00", "32T00:00"),
    ],
)
def test_a_night_ends_in_the_morning_also_when_it_crosses_midnight(hours: str, now: str, end: str | None) -> None:
    expected = at(end) if end and end < "32" else end and datetime(2026, 4, 1, tzinfo=SHANGHAI)
    assert Night(hours, SHANGHAI).end(at(now)) == expected

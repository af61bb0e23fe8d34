"""The service's one clock: aware, in UTC, with the business day of its zone."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.core.clock import Clock, Moment, system_time

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
HAVANA = ZoneInfo("America/Havana")  # its summer time begins at midnight, which does not exist that day


def reading(zone: ZoneInfo, now: datetime) -> Moment:
    """What a clock of this zone shows at this instant."""
    return Clock(zone, lambda: now).moment()


def test_a_moment_is_in_utc_whatever_the_clock_reads() -> None:
    read = reading(SHANGHAI, datetime(2026, 3, 2, 10, 0, tzinfo=SHANGHAI))
    assert (read.now, read.now.tzinfo) == (datetime(2026, 3, 2, 2, 0, tzinfo=UTC), UTC)
    assert (read.today, read.tomorrow) == (date(2026, 3, 2), datetime(2026, 3, 2, 16, 0, tzinfo=UTC))


@pytest.mark.parametrize("time", [time(0, 0), time(7, 59), time(23, 59, 59, 999999)])
def test_the_day_is_that_of_the_zone(time: time) -> None:
    now = datetime.combine(date(2026, 3, 2), time, SHANGHAI)
    assert reading(SHANGHAI, now).today == date(2026, 3, 2)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        (SHANGHAI, date(2026, 3, 29), 24),
        (BERLIN, date(2026, 3, 28), 24),
        (BERLIN, date(2026, 3, 29), 23),
        (BERLIN, date(2026, 10, 25), 25),
        (HAVANA, date(2026, 3, 7), 24),
    ],
)
def test_a_day_is_as_long_as_the_zone_makes_it(zone: ZoneInfo, day: date, hours: int) -> None:
    midnight = reading(zone, datetime.combine(day, time.min, zone))
    assert midnight.tomorrow - midnight.now == timedelta(hours=hours)


@pytest.mark.parametrize("zone", [SHANGHAI, BERLIN, HAVANA])
def test_tomorrow_is_always_ahead_and_the_next_day(zone: ZoneInfo) -> None:
    for hour in range(24 * 365):
        now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
        read = reading(zone, now)
        assert now < read.tomorrow <= now + timedelta(hours=25)
        assert reading(zone, read.tomorrow).today == read.today + timedelta(days=1)


@pytest.mark.parametrize("hour", [0, 1])
def test_both_passes_of_the_repeated_hour_in_autumn_are_the_same_day(hour: int) -> None:
    now = datetime(2026, 10, 25, hour, 30, tzinfo=UTC)
    assert reading(BERLIN, now).today == date(2026, 10, 25)


def test_the_machines_time_is_aware_and_in_utc() -> None:
    assert system_time().tzinfo is UTC
    assert Clock(SHANGHAI).moment().now.tzinfo is UTC

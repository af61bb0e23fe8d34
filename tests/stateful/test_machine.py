"""The service and the model on random days, in the zone of the boards and in one whose summer time begins at midnight.

`SOAK_STEPS` asks for so many steps and for other days at each run (`make soak`); else the days are always the same.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stateful.machine import Day
from tests.stateful.service import stepped_service

LEAST_STEPS = 1_100
SOAK_STEPS = int(os.environ.get("SOAK_STEPS", "0"))
STEPS_A_DAY = 50
STARTS = {
    "Asia/Shanghai": datetime(2026, 3, 2, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai")),
    # There is no 0 o'clock on the 24th of April.
    "Africa/Cairo": datetime(2026, 4, 23, 22, 30, tzinfo=ZoneInfo("Africa/Cairo")),
}


@contextmanager
def days_of(zone: str, database_url: str, folder: Path) -> Iterator[None]:
    """Days that begin there run against a service of that zone."""
    with stepped_service(database_url, folder, zone) as service:
        Day.service, Day.zone, Day.start, Day.steps = service, ZoneInfo(zone), STARTS[zone], 0
        yield


@pytest.mark.parametrize("zone", STARTS)
def test_the_service_does_what_the_model_does(zone: str, empty_database: str, tmp_path: Path) -> None:
    steps = SOAK_STEPS // len(STARTS) or LEAST_STEPS
    with days_of(zone, empty_database, tmp_path):
        while Day.steps < steps:
            run_state_machine_as_test(
                Day,
                settings=settings(
                    max_examples=max(10, (steps - Day.steps) // STEPS_A_DAY),
                    stateful_step_count=STEPS_A_DAY,
                    deadline=None,
                    derandomize=not SOAK_STEPS,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
    print(f"{zone}: {Day.steps} steps")
    assert Day.steps >= steps


def test_a_lease_across_the_hour_that_summer_time_leaves_out(empty_database: str, tmp_path: Path) -> None:
    """Found by a long run: the model's own clock went by the wall, and saw this lease end an hour early."""
    with days_of("Africa/Cairo", empty_database, tmp_path):
        day = Day()
        day.begin(jobs=1)
        day.wait(3600)
        day.mark_used(0)
        day.wait(3600)
        day.heartbeat(0, "token")
        day.wait(3600)
        day.every_keyword_is_the_models()
        day.the_days_counts_add_up()

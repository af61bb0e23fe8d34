"""The service and the model on random days, in the zone of the boards and in one whose summer time begins at midnight.

`SOAK_STEPS` asks for so many steps and for other days at each run (`make soak`); else the days are always the same.
"""

import os
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


@pytest.mark.parametrize("zone", STARTS)
def test_the_service_does_what_the_model_does(zone: str, empty_database: str, tmp_path: Path) -> None:
    steps = SOAK_STEPS // len(STARTS) or LEAST_STEPS
    with stepped_service(empty_database, tmp_path, zone) as service:
        Day.service, Day.zone, Day.start, Day.steps = service, ZoneInfo(zone), STARTS[zone], 0
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

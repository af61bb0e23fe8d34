"""Work that recurs: one failure does not end the series, and the end waits for what is under way."""

import asyncio

import pytest

from app.core.errors import DatabaseUnavailable
from app.core.scheduler import Job, running_scheduler


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DatabaseUnavailable("The database is away."), "sweep will be tried again in 1 s: The database is away."),
        (ValueError("my-secret"), "sweep failed: ValueError"),
    ],
)
async def test_a_job_that_failed_runs_again(error: Exception, line: str, caplog: pytest.LogCaptureFixture) -> None:
    runs: list[int] = []
    second_run = asyncio.Event()

    async def fail_once() -> None:
        runs.append(1)
        if len(runs) == 1:
            raise error
        second_run.set()

    async with running_scheduler([Job("sweep", 1, fail_once)]), asyncio.timeout(30):
        await second_run.wait()
    assert [record.getMessage() for record in caplog.records if record.name.startswith("app")] == [line]


async def test_a_job_that_is_under_way_is_finished_before_the_end() -> None:
    begun, finish = asyncio.Event(), asyncio.Event()
    finished = False

    async def work() -> None:
        nonlocal finished
        begun.set()
        await finish.wait()
        finished = True

    async with running_scheduler([Job("sweep", 1, work)]), asyncio.timeout(30):
        await begun.wait()
        asyncio.get_running_loop().call_soon(finish.set)
    assert finished

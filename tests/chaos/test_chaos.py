"""A short chaos, the same each time: every kind of event once, and then the audit (I1 to I7)."""

from pathlib import Path

import pytest

from tests.chaos.__main__ import run

MINUTES = 0.6


def test_no_promise_is_broken_whatever_dies(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    report = run(MINUTES, 7, request.config.getoption("--database"), tmp_path)
    assert report.broken == []
    assert report.figures["jobs lost"] == report.figures["living crawls robbed"] == 0
    # Or nothing would have been shown.
    assert len(report.figures["events"]) >= 7
    assert report.figures["kill to next claim, seconds"]["kills"] >= 1
    assert len(report.figures["faults of the proxy"]) >= 4

"""Waiting that ends with the stop signal."""

import random
import threading

from jobs_spider.timekeeper import Timekeeper


def test_a_wait_ends_at_once_when_the_spider_is_told_to_stop() -> None:
    timekeeper = Timekeeper()
    teller = threading.Thread(target=timekeeper.stop)
    teller.start()
    # Without the signal this would outlast any patience.
    timekeeper.wait(10**6)
    teller.join()
    assert timekeeper.stopping


def test_a_wait_begun_after_the_signal_is_short() -> None:
    timekeeper = Timekeeper()
    timekeeper.stop()
    timekeeper.wait(10**6)


def test_an_undisturbed_wait_lasts_its_time() -> None:
    timekeeper = Timekeeper()
    before = timekeeper.monotonic()
    timekeeper.wait(0.02)
    assert timekeeper.monotonic() - before >= 0.02


def test_now_is_aware() -> None:
    assert Timekeeper().now().tzinfo is not None


def test_backoff_doubles_is_spread_and_has_a_longest_wait() -> None:
    timekeeper = Timekeeper(random.Random(1))
    waits = [timekeeper.backoff(attempt, base=2, longest=10) for attempt in range(5)]
    assert all(full / 2 <= wait <= full for wait, full in zip(waits, [2, 4, 8, 10, 10], strict=True))
    assert timekeeper.backoff(10**6, base=2, longest=10) <= 10

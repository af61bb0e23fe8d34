"""The time between SIGTERM and the stop: load balancers see that we leave, and whoever still calls is served."""

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

logger = logging.getLogger(__name__)


class Drain:
    """Whether this process is about to stop."""

    def __init__(self) -> None:
        self.under_way = False

    @contextmanager
    def begun_by_sigterm(self, seconds: int) -> Iterator[None]:
        """Within the block SIGTERM begins a drain of so many seconds, after which the server stops as it would have.

        A second SIGTERM stops it at once. Where no server handles SIGTERM, as in tests within a process, nothing
        changes.
        """
        stop = signal.getsignal(signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread() or not callable(stop):
            yield
            return
        loop = asyncio.get_running_loop()

        def begin(number: int, frame: FrameType | None) -> None:
            if self.under_way or not seconds:
                stop(number, frame)
                return
            self.under_way = True
            logger.info("told to stop: not ready any more, stopping in %d s", seconds)
            loop.call_soon_threadsafe(loop.call_later, seconds, stop, number, None)

        signal.signal(signal.SIGTERM, begin)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, stop)

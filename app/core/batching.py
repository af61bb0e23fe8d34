"""Changes that wait for the database at the same time go to it together: one statement and one commit for all of them.

Changes that arrive in the same turn of the event loop go at once; those that arrive while others are under way queue,
and go together as soon as one of these is done. There is no timer: nobody waits for company.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from app.core.errors import Contention, DatabaseUnavailable, ServiceError

C = TypeVar("C")
R = TypeVar("R")

logger = logging.getLogger(__name__)

LARGEST_BATCH = 64
LONGEST_QUEUE = 4096
WAIT_SECONDS = 20.0


class Batcher(Generic[C, R]):
    """Carries out changes of one kind.

    alone: carries out one change and gives its outcome, or raises.
    together: carries out several as one and gives their outcomes in order; None when they do not all apply and nothing
        was changed. Then, and after an error of its own, each is carried out alone, so that none fails by another. A
        ServiceError is for all of them: the database is away.
    at_once: how many go to the database at the same time. With more than one, a change that waits for a lock holds up
        only those that went with it.
    """

    def __init__(
        self,
        alone: Callable[[C], Awaitable[R]],
        together: Callable[[list[C]], Awaitable[Sequence[R | ServiceError] | None]],
        *, at_once: int = 2, size: Callable[[C], int] = lambda change: 1,
    ) -> None:  # fmt: skip
        self._alone = alone
        self._together = together
        self._at_once = at_once
        self._size = size
        self._under_way = 0
        self._awake = False  # whether the next turn of the event loop goes on
        self._waiting: deque[tuple[C, asyncio.Future[R], float]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()  # asyncio itself keeps no strong reference

    async def carry_out(self, change: C) -> R:
        """Raises what `alone` raises for this change, and DatabaseUnavailable when the queue is too long or slow."""
        if len(self._waiting) >= LONGEST_QUEUE:
            raise DatabaseUnavailable("Too many calls are waiting for the database. Try again in a moment.")
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[R] = loop.create_future()
        self._waiting.append((change, outcome, loop.time() + WAIT_SECONDS))
        if not self._awake and self._under_way < self._at_once:
            self._awake = True
            loop.call_soon(self._go_on)
        return await outcome

    def _go_on(self) -> None:
        self._awake = False
        batch = self._next_batch() if self._under_way < self._at_once else None
        if batch:
            self._under_way += 1
            self._start(self._carry_out_batch(batch))

    def _next_batch(self) -> list[tuple[C, asyncio.Future[R]]]:
        batch, room, now = [], LARGEST_BATCH, asyncio.get_running_loop().time()
        while self._waiting and room > 0:
            change, outcome, deadline = self._waiting.popleft()
            if outcome.done():
                continue  # its caller has gone
            # Only here, before anything is done: what is told as failed must not be carried out afterwards.
            if deadline < now:
                _fail(outcome, DatabaseUnavailable("The database is too slow. Try again in a moment."))
                continue
            batch.append((change, outcome))
            room -= self._size(change)
        return batch

    async def _carry_out_batch(self, batch: list[tuple[C, asyncio.Future[R]]]) -> None:
        try:
            if len(batch) == 1:
                await self._carry_out_alone(*batch[0])
                return
            outcomes = await self._carry_out_together(batch)
        finally:
            self._under_way -= 1
            self._go_on()
        if outcomes is None:
            for change, outcome in batch:
                self._start(self._carry_out_alone(change, outcome))

    async def _carry_out_together(self, batch: list[tuple[C, asyncio.Future[R]]]) -> Sequence[R | ServiceError] | None:
        try:
            results = await self._together([change for change, _ in batch])
        except ServiceError as error:
            for _, outcome in batch:
                _fail(outcome, error)
            return []
        except Exception as error:  # each meets it again alone, if it is its own
            level = logging.INFO if isinstance(error, Contention) else logging.WARNING
            logger.log(level, "a batch met %s: its %d changes go alone", type(error).__name__, len(batch))
            return None
        if results is not None:
            for (_, outcome), result in zip(batch, results, strict=True):
                if isinstance(result, ServiceError):
                    _fail(outcome, result)
                else:
                    _succeed(outcome, result)
        return results

    async def _carry_out_alone(self, change: C, outcome: asyncio.Future[R]) -> None:
        task = asyncio.current_task()
        # Nobody else waits for it: when its caller goes, it is given up.
        outcome.add_done_callback(lambda done: done.cancelled() and task and task.cancel())
        try:
            _succeed(outcome, await self._alone(change))
        except Exception as error:  # each belongs to the caller who waits for it
            _fail(outcome, error)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _succeed(outcome: asyncio.Future[R], result: R) -> None:
    if not outcome.done():
        outcome.set_result(result)


def _fail(outcome: asyncio.Future[R], error: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(error)

"""What strikes the world, in a seeded order. Each event takes some time and leaves everything running again."""

import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from random import Random

import httpx

from tests.chaos.world import LEASE_SECONDS, Spider, World
from tests.mariadb import PrivateServer
from tests.stand_in import Fault

BOARD_FAULTS = ("slow", "reset", "error_500", "unavailable_503", "too_many_429", "bad_items")
# A clock that is five minutes off under a lease of thirty.
CLOCK_STEP_SECONDS = LEASE_SECONDS / 6
DISK_BYTES = 4096


class Events:
    """The events that this world knows: each by its name, with how often it comes."""

    def __init__(self, world: World, random: Random, mariadb: PrivateServer | None) -> None:
        self._world = world
        self._random = random
        self._mariadb = mariadb
        self.kinds: dict[str, tuple[int, Callable[[], None]]] = {
            "spider_killed": (5, self.kill_a_spider),
            "service_killed": (3, self.kill_a_service),
            "board_fault": (4, self.trouble_the_board),
            "spider_frozen": (1, self.freeze_a_spider),
            "services_away": (1, self.take_the_services_away),
            "clock_stepped": (1, self.step_a_clock),
            "disk_full": (1, self.fill_a_disk),
        }
        if mariadb:
            self.kinds["database_killed"] = (2, self.kill_the_database)
        else:
            self.kinds["database_locked"] = (2, self.lock_the_file)

    def strike(self) -> str:
        """One event, by chance; its name."""
        names = list(self.kinds)
        (name,) = self._random.choices(names, [self.kinds[name][0] for name in names])
        self.strike_with(name)
        return name

    def strike_with(self, name: str) -> None:
        self._world.note(name)
        self.kinds[name][1]()

    def _spider(self) -> Spider:
        return self._random.choice(self._world.spiders)

    def kill_a_spider(self) -> None:
        """One that holds a keyword; any, when none does for a while."""
        give_up_at = time.monotonic() + LEASE_SECONDS
        while True:
            spider = self._spider()
            if spider.is_disturbed:
                continue
            held = self._world.stop_and_ask(spider)
            if held is not None or time.monotonic() > give_up_at:
                break
            self._world.go_on(spider)
            time.sleep(0.05)
        died = self._world.kill_spider(spider, held)
        time.sleep(self._random.uniform(0, 1))
        spider.disturbed.append((died, time.time()))
        self._world.start_spider(spider)

    def kill_a_service(self) -> None:
        number = self._random.randrange(len(self._world.services))
        self._world.kill_service(number)
        time.sleep(self._random.uniform(0, 1))
        self._world.start_service(number)

    def freeze_a_spider(self) -> None:
        """Longer than its lease: somebody else takes its keyword, and it wakes up as a zombie."""
        spider = self._spider()
        frozen = spider.process
        assert frozen
        began, length = time.time(), LEASE_SECONDS + 3
        spider.disturbed.append((began, began + length))
        frozen.send_signal(signal.SIGSTOP)
        # Other things go on meanwhile; a process that was killed in its sleep hears nothing.
        threading.Timer(length, frozen.send_signal, [signal.SIGCONT]).start()

    def take_the_services_away(self) -> None:
        """Longer than the lease: every spider is silent at once, and none may be robbed for it."""
        for number in range(len(self._world.services)):
            self._world.kill_service(number)
        time.sleep(LEASE_SECONDS + 2)
        for number in range(len(self._world.services)):
            self._world.start_service(number)

    def step_a_clock(self) -> None:
        step = self._random.choice((-CLOCK_STEP_SECONDS, CLOCK_STEP_SECONDS))
        service = self._random.choice(self._world.services)
        if service:
            for offset in (step, 0.0):
                httpx.post(f"{service.url}/_test/clock", json={"offset": offset}, timeout=10)
                time.sleep(2)

    def fill_a_disk(self) -> None:
        """A spider whose files cannot grow for a while; nothing of its page may be reported."""
        spider = self._spider()
        assert spider.process
        limits = (DISK_BYTES, resource.RLIM_INFINITY)
        resource.prlimit(spider.process.pid, resource.RLIMIT_FSIZE, limits)
        time.sleep(2)
        if spider.process.poll() is None:
            free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(spider.process.pid, resource.RLIMIT_FSIZE, free)

    def trouble_the_board(self) -> None:
        kind = self._random.choice(BOARD_FAULTS)
        self._world.add_board_fault(Fault(kind, times=self._random.randint(1, 3), seconds=1.0))

    def kill_the_database(self) -> None:
        assert self._mariadb
        self._mariadb.kill()
        time.sleep(self._random.uniform(0, 2))
        self._mariadb.start()

    def lock_the_file(self) -> None:
        """Another process writes to the SQLite file for longer than anybody likes."""
        path = self._world.database_url.removeprefix("sqlite://")
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            time.sleep(self._random.uniform(1, 4))
            connection.execute("ROLLBACK")

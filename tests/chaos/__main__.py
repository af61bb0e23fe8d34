"""`python -m tests.chaos --minutes 10 --seed 1 --database mariadb`: let everything die, then count what was lost."""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import mariadb
from tests.chaos.auditor import Report, audit
from tests.chaos.events import Events
from tests.chaos.world import World

PATIENCE_SECONDS = 240
SHARE_OF_FAULTS = 0.06


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, mariadb.PrivateServer | None]]:
    if kind == "sqlite":
        yield f"sqlite://{folder / 'chaos.sqlite3'}", None
        return
    # A server of our own: it is going to be killed.
    with mariadb.private_server() as server, mariadb.temporary_database(server.url) as url:
        yield url, server


def run(minutes: float, seed: int, kind: str, folder: Path) -> Report:
    """Strike for so many minutes, let the rest be finished in peace, and audit."""
    chance = random.Random(seed)
    with database(kind, folder) as (url, server), World(folder, url, seed, 2, SHARE_OF_FAULTS) as world:
        events = Events(world, chance, server)
        world.add_wave()
        # Each kind once and kills thrice, then by chance, for as long as there is time.
        first = [*events.kinds, "spider_killed", "spider_killed"]
        chance.shuffle(first)
        end = time.monotonic() + 60 * minutes
        while first or time.monotonic() < end:
            if first:
                events.strike_with(first.pop())
            else:
                events.strike()
            world.mend_spiders()
            if world.undone() < len(world.spiders):
                world.add_wave()
            time.sleep(chance.uniform(0.2, 1.5))
        world.proxy.calm()
        world.board.clear_faults()
        patience = time.monotonic() + PATIENCE_SECONDS
        while world.undone() and time.monotonic() < patience:
            world.mend_spiders()
            time.sleep(0.5)
        return audit(world)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000), help="the order of events")
    parser.add_argument("--database", choices=["sqlite", "mariadb"], default="mariadb")
    parser.add_argument("--folder", type=Path, help="where logs and jobs go; a temporary one by default")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"chaos on {given.database} for {given.minutes:g} minutes, seed {given.seed}", flush=True)
    report = run(given.minutes, given.seed, given.database, folder)
    print(json.dumps(report.figures, indent=2, ensure_ascii=False))
    print("\n".join(report.broken) or "no promise was broken")
    # What broke is understood from the logs alone.
    if report.broken or given.folder:
        print(f"logs, jobs and the order of events: {folder}")
    else:
        shutil.rmtree(folder)
    return int(bool(report.broken))


if __name__ == "__main__":
    sys.exit(main())

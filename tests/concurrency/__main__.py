"""`python -m tests.concurrency --claims 50000 --galera`: 64 claimants over three services, then the accounts."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests import mariadb
from tests.concurrency.galera import Cluster, running_cluster
from tests.concurrency.load import Ledger, add_keywords, compare, contention, drive
from tests.service_process import ServiceProcess, running_service

CLAIMANTS = 64
SERVICES = 3
CLAIMS_A_KEYWORD = 1.4  # what the claimants' chances come to
DATABASE = "jobdata"
NODE_STATUS = ("wsrep_local_cert_failures", "wsrep_local_bf_aborts", "wsrep_local_replays")
# A node that dies takes its service's database away for a while: claims must not be swept meanwhile.
SETTINGS = {"LEASE_SECONDS": "7200", "DATABASE_WAIT_SECONDS": "60"}


@dataclass
class Result:
    """The figures of a run, and each promise that was broken."""

    figures: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


@contextmanager
def services(urls: list[str], folder: Path) -> Iterator[list[ServiceProcess]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_service(url, folder / f"service-{number}.log", **SETTINGS))
            for number, url in enumerate(urls)
        ]


def on_one_server(claims: int, seed: int, folder: Path) -> Result:
    """All services on one MariaDB."""
    with (
        mariadb.server() as server,
        mariadb.temporary_database(server) as url,
        services([url] * SERVICES, folder) as running,
    ):
        return _run(claims, seed, folder, running, None)


def on_galera(claims: int, seed: int, folder: Path) -> Result:
    """Each service on a node of its own; the last node is killed in the middle and joins again."""
    with running_cluster() as cluster:
        mariadb.run_sql(cluster.nodes[0].url, f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        with services([f"{node.url}/{DATABASE}" for node in cluster.nodes], folder) as running:
            return _run(claims, seed, folder, running, cluster)


def _run(claims: int, seed: int, folder: Path, running: list[ServiceProcess], cluster: Cluster | None) -> Result:
    ledger = Ledger()
    addresses = [service.url for service in running]
    outage: dict[str, float] = {}
    began = 0.0

    async def all_at_once() -> None:
        nonlocal began
        await add_keywords(addresses[0], round(claims / CLAIMS_A_KEYWORD), ledger)
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(drive(addresses, CLAIMANTS, ledger, seed))
            if cluster:
                lost = asyncio.to_thread(_lose_a_node, cluster, running[-1], ledger, claims, outage)
                group.create_task(lost)

    asyncio.run(all_at_once())
    seconds = time.monotonic() - began
    # On Galera from the node that was killed: it has to know what happened while it was away.
    asyncio.run(compare(addresses[-1], ledger))
    result = Result(broken=ledger.broken)
    result.figures = {
        "keywords": len(ledger.keywords),
        "claims": ledger.claims,
        "calls": ledger.calls,
        "answers": dict(ledger.answers),
        "handed out twice": sum("while somebody held it" in line for line in ledger.broken),
        "tried again after contention": contention(sorted(folder.glob("service-*.log"))),
        "seconds": round(seconds),
        "claims a second": round(ledger.claims / seconds),
    }
    if cluster:
        result.figures["nodes"] = {name: [node.status(name) for node in cluster.nodes] for name in NODE_STATUS}
        result.figures["outage"] = outage
    return result


def _lose_a_node(
    cluster: Cluster, service: ServiceProcess, ledger: Ledger, claims: int, outage: dict[str, float]
) -> None:
    """Kill the last node when a third of the claims is made; let it join again when the others have gone on."""
    node = cluster.nodes[-1]
    _until(lambda: ledger.claims >= claims / 3)
    node.kill()
    killed, at_kill = time.monotonic(), ledger.claims
    _until(lambda: httpx.get(f"{service.url}/readyz", timeout=60).status_code == 503)
    outage["seconds to its service's first 503"] = round(time.monotonic() - killed, 2)
    # Twice as many as could have been under way at the kill, and then a while longer.
    _until(lambda: ledger.claims >= at_kill + 2 * CLAIMANTS + claims // 20)
    outage["seconds until it was started again"] = round(time.monotonic() - killed, 2)
    outage["claims of the others meanwhile"] = ledger.claims - at_kill
    again = time.monotonic()
    cluster.rejoin(node)
    _until(lambda: httpx.get(f"{service.url}/readyz", timeout=60).status_code == 200)
    outage["seconds from the start to its service's recovery"] = round(time.monotonic() - again, 2)


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claims", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1, help="what the claimants do")
    parser.add_argument("--galera", action="store_true", help="a three-node cluster, one node killed in the middle")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concurrency-") as folder:
        run = on_galera if given.galera else on_one_server
        result = run(given.claims, given.seed, Path(folder))
    print(json.dumps(result.figures, indent=2))
    print("\n".join(result.broken[:50]) or "no promise was broken")
    return int(bool(result.broken))


if __name__ == "__main__":
    sys.exit(main())

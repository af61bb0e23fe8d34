"""`python -m benchmarks [--full] [NAME …]`: prints the table of results. Needs MariaDB and wrk (apt install wrk)."""

import argparse
import os

from benchmarks import calls, scale
from benchmarks.table import HEAD, machine
from tests import mariadb

BENCHES = {
    "calls": calls.against_empty,
    "lone": calls.one_connection,
    "workers": calls.two_workers,
    "original": calls.against_original,
    "sqlite": calls.on_sqlite,
    "flat": scale.flat,
    "counts": scale.counts,
    "sweep": scale.sweep,
    "bulk": scale.bulk,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHES, []], help=", ".join(BENCHES))
    parser.add_argument("--full", action="store_true", help="as many rounds and as large tables as published")
    options = parser.parse_args()
    with mariadb.server() as server:
        print(f"{os.cpu_count()} cores; {machine(server)}\n\n{HEAD}")
        for name in options.names or BENCHES:
            for row in BENCHES[name](server, 5 if options.full else 3, options.full):
                print(row, flush=True)


if __name__ == "__main__":
    main()

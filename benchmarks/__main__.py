"""`python -m benchmarks [--full] [NAME …]`: prints the table of results. Needs MariaDB and wrk (apt install wrk)."""

import argparse
import os

from benchmarks import calls
from benchmarks.table import HEAD, machine
from tests import mariadb

BENCHES = {
    "calls": calls.against_empty,
    "workers": calls.two_workers,
    "original": calls.against_original,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHES, []], help=", ".join(BENCHES))
    parser.add_argument("--full", action="store_true", help="as many and as long rounds as the published figures")
    options = parser.parse_args()
    rounds, seconds = (7, 4) if options.full else (3, 2)
    with mariadb.server() as server:
        print(f"{os.cpu_count()} cores; {machine(server)}\n\n{HEAD}")
        for name in options.names or BENCHES:
            for row in BENCHES[name](server, rounds, seconds):
                print(row, flush=True)


if __name__ == "__main__":
    main()

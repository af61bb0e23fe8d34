"""One line of the results: a ratio, measured in several rounds."""

import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median

from tests import mariadb


@dataclass
class Row:
    """`what` was measured, its ratio to `yardstick`, and the medians of both, in `unit`."""

    what: str
    yardstick: str
    unit: str = "/s"
    ratios: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def add(self, ratio: float, *, ours: float, other: float) -> None:
        self.ratios.append(ratio)
        self.ours.append(ours)
        self.others.append(other)

    def __str__(self) -> str:
        spread = f"{min(self.ratios):.2f} to {max(self.ratios):.2f}"
        both = f"{median(self.ours):,.4g}{self.unit} | {median(self.others):,.4g}{self.unit}"
        return (
            f"| {self.what} | {median(self.ratios):.2f} × {self.yardstick} | {spread} | {len(self.ratios)} | {both} |"
        )


HEAD = "| what | ratio | spread | rounds | service | yardstick |\n|---|---|---|---|---|---|"


def machine(server: str) -> str:
    """What it was measured on."""
    names = ("version", "innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size")
    [values] = mariadb.run_sql(server, f"SELECT {', '.join('@@' + name for name in names)}")
    variables = dict(zip(names, map(str, values), strict=True))
    packages = ", ".join(f"{name} {version(name)}" for name in ("fastapi", "uvicorn", "tortoise-orm", "aiomysql"))
    pool = int(variables["innodb_buffer_pool_size"]) // 2**20
    return (
        f"Python {platform.python_version()}, {packages}; MariaDB {variables['version']}, buffer pool {pool} MiB,"
        f" innodb_flush_log_at_trx_commit={variables['innodb_flush_log_at_trx_commit']}; server, database and load on"
        " the same cores"
    )

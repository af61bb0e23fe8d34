"""City names to the boards' own codes, from the table `city_codes.csv` beside this file."""

import csv
from pathlib import Path

from jobs_spider.board import UnknownCity

TABLE = Path(__file__).with_name("city_codes.csv")


class CityTable:
    """The codes of one board. A city that is not in the table is an error, never another city."""

    def __init__(self, source: str) -> None:
        self._source = source
        # utf-8-sig: people edit the table in Excel, which puts a mark at its start.
        with TABLE.open(encoding="utf-8-sig", newline="") as lines:
            self._codes = {row["city"]: row[source] for row in csv.DictReader(lines) if row[source]}

    def code(self, city: str) -> str:
        name = city.strip()
        code = self._codes.get(name) or self._codes.get(name.removesuffix("市"))
        if code is None:
            raise UnknownCity(
                f"city {city!r} has no {self._source} code in {TABLE.name}; the board was not asked. "
                "Correct the keyword's city or add it to the table."
            )
        return code

"""City names to the boards' own codes, from the tables `city_codes.csv` and `city_aliases.csv` beside this file."""

import csv
from collections.abc import Iterator
from pathlib import Path

from jobs_spider.board import UnknownCity

TABLE = Path(__file__).with_name("city_codes.csv")
ALIASES = Path(__file__).with_name("city_aliases.csv")


class CityTable:
    """The codes of one board. A city that is not in the table is an error, never another city."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._by_name = {row["city"]: row[source] for row in _rows(TABLE) if row[source]}
        self._codes = set(self._by_name.values())
        self._aliases = {row["alias"].casefold(): row["city"] for row in _rows(ALIASES)}

    def code(self, city: str) -> str:
        """The code of a name (with or without 市), of an alias, or of a code of this board itself."""
        name = city.strip()
        for known in (name, name.removesuffix("市"), self._aliases.get(name.casefold(), "")):
            if code := self._by_name.get(known):
                return code
        if name in self._codes:
            return name
        raise UnknownCity(
            f"city {city!r} has no {self._source} code in {TABLE.name}; the board was not asked. "
            f"Correct the keyword's city, or add it to the table (another name of a city: to {ALIASES.name})."
        )


def _rows(table: Path) -> Iterator[dict[str, str]]:
    # utf-8-sig: people edit the tables in Excel, which puts a mark at their start.
    with table.open(encoding="utf-8-sig", newline="") as lines:
        yield from csv.DictReader(lines)

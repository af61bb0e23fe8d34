"""City names to codes."""

import csv
from pathlib import Path

import pytest

from jobs_spider.board import UnknownCity
from jobs_spider.cities import ALIASES, TABLE, CityTable


def rows(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("name", ["北京", "北京市", " 北京 ", "Beijing", "beijing", "101010100"])
def test_a_city_is_found_by_its_name_an_alias_or_its_code(name: str) -> None:
    assert CityTable("boss").code(name) == "101010100"


@pytest.mark.parametrize(
    ("source", "name", "code"),
    [
        ("qcwy", "北京", "010000"), ("qcwy", "010000", "010000"), ("zhilian", "530", "530"), ("zhilian", "全国", "489"),
        ("zhilian", "不限", "489"), ("qcwy", "Xi'an", "200200"), ("zhilian", "吉林", "614"),
    ],
)  # fmt: skip
def test_each_board_has_its_own_codes_with_their_leading_zeros(source: str, name: str, code: str) -> None:
    assert CityTable(source).code(name) == code


@pytest.mark.parametrize("name", ["", "市", "亚特兰蒂斯", "昆山", "010000", "10000", "530"])
def test_a_city_without_a_code_is_an_error_that_names_city_and_table(name: str) -> None:
    with pytest.raises(UnknownCity, match=r"city_codes\.csv") as caught:
        CityTable("boss").code(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("source", ["boss", "qcwy", "zhilian"])
def test_every_city_of_the_table_resolves_to_its_own_code(source: str) -> None:
    table = CityTable(source)
    known = {row["city"]: row[source] for row in rows(TABLE) if row[source]}
    assert {city: table.code(city) for city in known} == known
    assert len(set(known.values())) == len(known)


def test_every_alias_names_a_city_of_the_table_and_is_none_itself() -> None:
    cities, aliases = {row["city"] for row in rows(TABLE)}, [row["alias"] for row in rows(ALIASES)]
    assert {row["city"] for row in rows(ALIASES)} <= cities
    assert cities & set(aliases) == set()
    assert len({alias.casefold() for alias in aliases}) == len(aliases)


def test_codes_have_the_form_of_their_board() -> None:
    for row in rows(TABLE):
        assert [len(row["boss"]) in (0, 9), len(row["qcwy"]) in (0, 6), len(row["zhilian"]) in (0, 3, 4, 5)] == [
            True
        ] * 3

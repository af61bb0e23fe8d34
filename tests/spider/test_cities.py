"""City names to codes."""

import csv

import pytest

from jobs_spider.board import UnknownCity
from jobs_spider.cities import TABLE, CityTable


@pytest.mark.parametrize("name", ["北京", "北京市", " 北京 "])
def test_a_city_is_found_by_its_name_with_or_without_its_suffix(name: str) -> None:
    assert CityTable("boss").code(name) == "101010100"


@pytest.mark.parametrize("name", ["", "市", "亚特兰蒂斯", "昆山"])
def test_a_city_without_a_code_is_an_error_that_names_city_and_table(name: str) -> None:
    with pytest.raises(UnknownCity, match=r"city_codes\.csv") as caught:
        CityTable("boss").code(name)
    assert repr(name) in str(caught.value)


def test_leading_zeros_stay() -> None:
    assert CityTable("qcwy").code("北京") == "010000"


def test_no_two_cities_share_a_boss_code() -> None:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        codes = [row["boss"] for row in csv.DictReader(lines) if row["boss"]]
    assert len(codes) == len(set(codes))

"""Salary texts to numbers: the table, every known text, and what the grammar allows beyond them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs_spider.salary import UNKNOWN, Salary, Unit, parse_salary
from tests.spider.samples import rows

NEGOTIABLE = {"", "面议", "薪资面议"}
UNITS = {"K": 1_000, "千": 1_000, "万": 10_000, "元": 1}
PERIODS: dict[str, Unit] = {"": "month", "/月": "month", "/年": "year", "/天": "day", "/小时": "hour"}


def number(cell: str) -> int | None:
    return int(cell) if cell else None


@pytest.mark.parametrize("row", rows("salaries.csv"), ids=lambda row: row["text"] or "empty")
def test_each_row_of_the_table_has_its_numbers(row: dict[str, str]) -> None:
    found = parse_salary(row["text"])
    wanted = [number(row[name]) for name in ("min_month", "max_month", "months")]
    assert ([found.min_month, found.max_month, found.months], found.unit or "") == (wanted, row["unit"])


def test_each_known_text_has_numbers_unless_it_says_none() -> None:
    without = {row["text"] for row in rows("salary_texts.csv") if parse_salary(row["text"]) == UNKNOWN}
    assert without == NEGOTIABLE & {row["text"] for row in rows("salary_texts.csv")}


@pytest.mark.parametrize(
    ("text", "salary"),
    [
        ("1-1.5万", Salary(10_000, 15_000, 12, "month")),
        ("8千-1.2万·15薪", Salary(8_000, 12_000, 15, "month")),
        ("2-1万", Salary(10_000, 20_000, 12, "month")),
        ("15k", Salary(15_000, 15_000, 12, "month")),
        ("3万及以下/年", Salary(None, 2_500, 12, "year")),
        ("100万以上/年", Salary(83_333, None, 12, "year")),
        ("1.5千以下/月", Salary(None, 1_500, 12, "month")),
        ("1.5千/天", Salary(unit="day")),
        ("10-25元/时", Salary(unit="hour")),
        ("１５－２５Ｋ·１４薪", Salary(15_000, 25_000, 14, "month")),
        ("15-25K•14薪", Salary(15_000, 25_000, 14, "month")),
        (" 1 - 1.5 万 ", Salary(10_000, 15_000, 12, "month")),
    ],
)
def test_the_rules_of_careful_parsers(text: str, salary: Salary) -> None:
    assert parse_salary(text) == salary


@pytest.mark.parametrize(
    "text",
    [
        "9\ufffd-1.5万·13薪", "\ue001\ue002-\ue003K", "10\ue0012-20K", "面议", "15000-25000", "K", "-5万", "1-2-3万",
        "1.2.3万", "万以上", "99999999万", "1-2万以上", "1万以上/月以下", "Infinity", "1e5元", "٣-٤万",
    ],
)  # fmt: skip
def test_what_cannot_be_told_has_no_numbers(text: str) -> None:
    assert parse_salary(text) == UNKNOWN


@given(
    low=st.integers(1, 999), high=st.integers(1, 999), left=st.sampled_from(["", *UNITS]),
    right=st.sampled_from(list(UNITS)), period=st.sampled_from(list(PERIODS)), months=st.none() | st.integers(1, 24),
)  # fmt: skip
def test_every_text_of_the_grammar_is_read(
    low: int, high: int, left: str, right: str, period: str, months: int | None
) -> None:
    found = parse_salary(f"{low}{left}-{high}{right}{period}" + (f"·{months}薪" if months else ""))
    assert found.unit == PERIODS[period]
    if found.unit in ("day", "hour"):
        assert found == Salary(unit=found.unit)
        return
    divisor = 12 if found.unit == "year" else 1
    exact = sorted((low * UNITS[left or right] / divisor, high * UNITS[right] / divisor))
    assert found.min_month is not None
    assert found.max_month is not None
    assert [abs(found.min_month - exact[0]) <= 0.5, abs(found.max_month - exact[1]) <= 0.5] == [True, True]
    assert found.months == (months or 12)


@given(st.text())
def test_no_text_trips_it_and_numbers_are_in_order(text: str) -> None:
    found = parse_salary(text)
    if found.min_month is not None and found.max_month is not None:
        assert 0 <= found.min_month <= found.max_month

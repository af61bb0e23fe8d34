"""Salary texts of the three boards as numbers: «1.5-2.5万·13薪» is 15000 to 25000 yuan a month, 13 times a year.

The grammar, after the texts that are known of the boards:

    text    = range [bound] ["/" period] [bound] ["·" months "薪"]
    range   = number [unit] ["-" number [unit]]
    unit    = K | 千 | 万 | 元        the left number has the right one's unless it has its own
    bound   = 以下 | 及以下 | 以上 | 及以上
    period  = 月 | 年 | 天 | 日 | 时 | 小时      a month when there is none

Anything else has no numbers: 面议, an empty text, a broken byte, and the private-use characters that a web page shows
instead of digits, whose meaning changes and is never guessed.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

Unit = Literal["month", "year", "day", "hour"]

YUAN = {"K": 1_000, "千": 1_000, "万": 10_000, "元": 1}
PERIODS: dict[str, Unit] = {"月": "month", "年": "year", "天": "day", "日": "day", "时": "hour", "小时": "hour"}
MONTHS_A_YEAR = 12
# More than anybody earns: a text beyond it is something else.
MOST_YUAN = 1_000_000_000

NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,4})?"
BOUND = "(?P<bound{}>及?以[上下])?"
GRAMMAR = re.compile(
    rf"(?P<low>{NUMBER})(?P<low_unit>[K千万元])?(?:[-~—–至](?P<high>{NUMBER})(?P<high_unit>[K千万元])?)?"
    rf"{BOUND.format(1)}(?:/(?P<period>月|年|天|日|时|小时))?{BOUND.format(2)}(?:·(?P<months>[0-9]{{1,2}})薪)?"
)


@dataclass(frozen=True)
class Salary:
    """What a salary text says. An open end is None.

    Yuan a month for monthly and yearly pay (a year's divided by 12, rounded). Pay by the day or hour has its unit
    alone: how many days a month are worked is not known.
    """

    min_month: int | None = None
    max_month: int | None = None
    months: int | None = None
    unit: Unit | None = None


UNKNOWN = Salary()


def parse_salary(text: str) -> Salary:
    """The numbers of a board's salary text; `UNKNOWN` when it has none that can be told."""
    parts = GRAMMAR.fullmatch(_plain(text))
    if not parts:
        return UNKNOWN
    right_unit = parts["high_unit"] if parts["high"] else parts["low_unit"]
    bound = parts["bound1"] or parts["bound2"] or ""
    # Without a unit a number may be anything; an open range with two numbers, or two bounds, means nothing.
    if not right_unit or (bound and parts["high"]) or (parts["bound1"] and parts["bound2"]):
        return UNKNOWN
    unit = PERIODS[parts["period"]] if parts["period"] else "month"
    if unit in ("day", "hour"):
        return Salary(unit=unit)
    divisor = MONTHS_A_YEAR if unit == "year" else 1
    low = _yuan(parts["low"], parts["low_unit"] or right_unit, divisor)
    high = _yuan(parts["high"], right_unit, divisor) if parts["high"] else low
    if max(low, high) > MOST_YUAN:
        return UNKNOWN
    months = int(parts["months"]) if parts["months"] else MONTHS_A_YEAR
    # «2-1万» has been seen.
    low, high = sorted((low, high))
    return Salary(None if bound.endswith("下") else low, None if bound.endswith("上") else high, months, unit)


def _plain(text: str) -> str:
    # Full-width digits and letters to the usual ones; the dot before 薪 comes in several kinds.
    plain = unicodedata.normalize("NFKC", text).replace("k", "K")
    return re.sub("[•・∙⋅*]", "·", re.sub(r"\s", "", plain))


def _yuan(number: str, unit: str, divisor: int) -> int:
    exact = Decimal(number) * YUAN[unit] / divisor
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))

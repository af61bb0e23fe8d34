"""The kinds of fields in the bodies and queries of calls: what they take, and how the OpenAPI document tells it."""

import datetime
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, StringConstraints
from pydantic.config import JsonDict

from app.models.keyword import CLAIM_TOKEN_LENGTH, CRAWLER_ID_LENGTH, ERROR_MESSAGE_LENGTH, NAME_LENGTH

# So many jobs on each of so many pages still fit into the 32 bits of jobs_found.
MAX_PAGE = 100_000
MAX_JOBS = 20_000
MAX_ID = 2**53 - 1  # a client that reads JSON's numbers as doubles would mistake greater ones
BULK_LIMIT = 10_000
REASON_LENGTH = 1_000

DATE_AT_START = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
CONTROL = r"\x00-\x1f\x7f"
SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def described_text(longest: int, *, empty: bool = False) -> Callable[[JsonDict], None]:
    """For the OpenAPI document: text without control characters, as long as that once it is stripped of white space."""
    edge = f"[^{SPACE}{CONTROL}]"
    content = f"{edge}([^{CONTROL}]{{0,{longest - 2}}}{edge})?"
    pattern = f"^[{SPACE}]*({content}){'?' if empty else ''}[{SPACE}]*$"

    def describe(schema: JsonDict) -> None:
        schema.pop("maxLength")  # would count the white space too
        schema["pattern"] = pattern

    return describe


def no_control_characters(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not contain control characters")
    return value


def no_boolean(value: Any) -> Any:
    """JSON's true is not the number 1, though Python says so. Numbers as text are fine: old spiders send them."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


def written_date(value: Any) -> Any:
    """A date as text; pydantic would take a number for seconds since 1970."""
    if not isinstance(value, datetime.date) and not (isinstance(value, str) and DATE_AT_START.match(value)):
        raise ValueError("must begin with a date such as 2026-03-02")
    return value


def readable_message(value: Any) -> Any:
    """Keep what can be kept: a spider that reports a failure must not lose the report over the message's characters."""
    if not isinstance(value, str):
        return value
    whole = value[: ERROR_MESSAGE_LENGTH * 2].encode("utf-8", "replace").decode()
    return whole.replace("\x00", "")[:ERROR_MESSAGE_LENGTH]


def in_utc(value: datetime.datetime) -> datetime.datetime:
    try:
        return value.astimezone(datetime.UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999") from None


Day = Annotated[datetime.date, BeforeValidator(written_date)]
Name = Annotated[
    str,
    Field(min_length=1, max_length=NAME_LENGTH, json_schema_extra=described_text(NAME_LENGTH)),
    AfterValidator(no_control_characters),
    AfterValidator(str.strip),
]
# Stripped here for the query; in bodies every text is.
CrawlerId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=CRAWLER_ID_LENGTH),
    Field(json_schema_extra=described_text(CRAWLER_ID_LENGTH)),
    AfterValidator(no_control_characters),
]
ClaimToken = Annotated[
    str,
    Field(min_length=1, max_length=CLAIM_TOKEN_LENGTH, json_schema_extra=described_text(CLAIM_TOKEN_LENGTH)),
    AfterValidator(no_control_characters),
]
ErrorMessage = Annotated[
    str,
    BeforeValidator(readable_message),
    Field(description=f"Longer messages are cut to {ERROR_MESSAGE_LENGTH} characters."),
]
KeywordId = Annotated[int, Field(ge=1, le=MAX_ID), BeforeValidator(no_boolean)]
Page = Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(no_boolean)]
PageCount = Annotated[int, Field(ge=0, le=MAX_PAGE), BeforeValidator(no_boolean)]
JobCount = Annotated[int, Field(ge=0, le=MAX_JOBS), BeforeValidator(no_boolean)]
Reason = Annotated[
    str,
    Field(max_length=REASON_LENGTH, json_schema_extra=described_text(REASON_LENGTH, empty=True)),
    AfterValidator(no_control_characters),
]
Instant = Annotated[AwareDatetime, BeforeValidator(written_date), AfterValidator(in_utc)]

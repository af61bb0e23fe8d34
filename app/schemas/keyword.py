"""Bodies of the calls about keywords, and of their answers. Times are ISO 8601 with offset, dates are business days."""

import datetime
import re
from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)
from pydantic.config import JsonDict

from app.core.enums import CrawlStatus, KeywordState, Outcome, ReleaseReason, Source
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


class Request(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    source: Source


class PageProgressRequest(Request):
    keyword_id: KeywordId
    page: Annotated[
        int, Field(ge=1, le=MAX_PAGE, description="The page that is done and stored."), BeforeValidator(no_boolean)
    ]
    total_pages: Annotated[int, Field(ge=0, le=MAX_PAGE), BeforeValidator(no_boolean)] | None = None
    jobs_found: Annotated[
        int, Field(ge=0, le=MAX_JOBS, description="Jobs on this page."), BeforeValidator(no_boolean)
    ] = 0
    claim_token: ClaimToken | None = None
    crawler_id: CrawlerId | None = None


class CrawlCompleteRequest(Request):
    keyword_id: KeywordId
    status: Outcome
    error_message: ErrorMessage | None = ""
    claim_token: ClaimToken | None = None
    crawler_id: CrawlerId | None = None


def _with(*names: str, without: str | None = None) -> JsonDict:
    """A JSON schema of the objects in which these fields are given, and that other one is not."""
    given: JsonDict = {name: {"not": {"type": "null"}} for name in names}
    absent: JsonDict = {without: {"type": "null"}} if without else {}
    return {"required": list(names), "properties": {**given, **absent}}


WAYS_TO_NAME_CLAIMS: list[JsonValue] = [
    _with("crawler_id", without="claim_token"),
    _with("keyword_id", "claim_token"),
    _with("keyword_id", "crawler_id"),
]


class ClaimsRequest(Request):
    """Names one claim, or all claims of a crawler."""

    model_config = ConfigDict(json_schema_extra={"anyOf": WAYS_TO_NAME_CLAIMS})

    keyword_id: KeywordId | None = None
    claim_token: ClaimToken | None = None
    crawler_id: CrawlerId | None = None

    @model_validator(mode="after")
    def names_claims(self) -> Self:
        if self.crawler_id is None and (self.keyword_id is None or self.claim_token is None):
            raise ValueError("give crawler_id (all its claims), or keyword_id with claim_token (one claim)")
        if self.claim_token is not None and self.keyword_id is None:
            raise ValueError("claim_token needs keyword_id")
        return self


class HeartbeatRequest(ClaimsRequest):
    pass


class ReleaseRequest(ClaimsRequest):
    reason: ReleaseReason = ReleaseReason.OTHER
    error_message: ErrorMessage | None = ""


class MarkUsedRequest(Request):
    keyword_id: KeywordId


class KeywordName(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    city: Name
    job: Name


class CreateKeywordRequest(Request):
    city: Name
    job: Name


class BulkCreateRequest(Request):
    keywords: Annotated[list[KeywordName], Field(min_length=1, max_length=BULK_LIMIT)]


class PauseRequest(Request):
    reason: Annotated[
        str,
        Field(max_length=REASON_LENGTH, json_schema_extra=described_text(REASON_LENGTH, empty=True)),
        AfterValidator(no_control_characters),
    ] = ""
    until: Annotated[AwareDatetime, BeforeValidator(written_date), AfterValidator(in_utc)] | None = Field(
        None, description="With an offset; none: until somebody resumes the source."
    )


class ResumeRequest(Request):
    pass


class Given(BaseModel):
    """What is answered; filled from the controllers' results."""

    model_config = ConfigDict(from_attributes=True)


class AvailableKeyword(Given):
    id: int
    city: str
    job: str
    last_completed_page: int = Field(description="The crawl goes on at the page after this one.")
    total_pages: int | None
    crawl_status: CrawlStatus = Field(description="As it was before this claim.")
    retry_count: int
    claim_token: str | None
    lease_expires_at: datetime.datetime | None


class PageProgressResult(Given):
    applied: bool = Field(description="False when this page had been reported before: nothing was counted again.")
    last_completed_page: int
    lease_expires_at: datetime.datetime | None
    should_stop: bool = Field(description="An operator paused the source: release the keyword and wait.")


class CrawlCompleteResult(Given):
    applied: bool
    crawl_status: CrawlStatus
    retry_count: int


class HeartbeatResult(Given):
    renewed: int
    lease_expires_at: datetime.datetime | None
    should_stop: bool


class ReleaseResult(Given):
    released: int


class MarkUsedResult(Given):
    applied: bool
    last_requested_date: datetime.date | None


class DayCounts(Given):
    crawling: int
    completed: int
    failed: int
    partial: int
    untracked: int = Field(description="Taken by spiders that report nothing.")


class StatsResult(Given):
    date: datetime.date
    total: int
    used: int
    unused: int
    crawl_status: DayCounts
    paused: bool
    cooling_down: bool = Field(description="The board blocked several crawlers: nothing is handed out for a while.")
    closed_because: str | None
    closed_until: datetime.datetime | None


class KeywordItem(Given):
    id: int
    source: Source
    city: str
    job: str
    status: KeywordState = Field(description="What the keyword is today.")
    last_requested_date: datetime.date | None
    last_requested_at: datetime.datetime | None
    last_completed_page: int
    total_pages: int | None
    jobs_found: int
    crawl_started_at: datetime.datetime | None
    crawl_finished_at: datetime.datetime | None
    crawler_id: str | None
    lease_expires_at: datetime.datetime | None
    error_message: str
    retry_count: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


class KeywordPage(Given):
    items: list[KeywordItem]
    next_cursor: str | None = Field(description="Give it as `cursor` to go on; null at the end.")


class BulkCreateResult(Given):
    created: int
    existing: int = Field(description="Already there, or twice in this request.")


class PauseResult(Given):
    source: Source
    paused: bool
    reason: str = ""
    until: datetime.datetime | None = None

"""Bodies of the calls about keywords, and of their answers. Times are ISO 8601 with offset, dates are business days."""

import datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from app.core.enums import CrawlStatus, KeywordState, Outcome, ReleaseReason, Source
from app.models.keyword import CLAIM_TOKEN_LENGTH, CRAWLER_ID_LENGTH, ERROR_MESSAGE_LENGTH, NAME_LENGTH

# So many jobs on each of so many pages still fit into the 32 bits of jobs_found.
MAX_PAGE = 100_000
MAX_JOBS = 20_000
MAX_ID = 2**63 - 1
BULK_LIMIT = 10_000


def no_control_characters(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not contain control characters")
    return value


def no_boolean(value: Any) -> Any:
    """JSON's true is not the number 1, though Python says so. Numbers as text are fine: old spiders send them."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
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


Name = Annotated[
    str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(no_control_characters), AfterValidator(str.strip)
]
# Stripped here for the query; in bodies every text is.
CrawlerId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=CRAWLER_ID_LENGTH),
    AfterValidator(no_control_characters),
]
ClaimToken = Annotated[str, Field(min_length=1, max_length=CLAIM_TOKEN_LENGTH), AfterValidator(no_control_characters)]
ErrorMessage = Annotated[
    str,
    BeforeValidator(readable_message),
    Field(description=f"Longer messages are cut to {ERROR_MESSAGE_LENGTH} characters."),
]
Number = Annotated[int, BeforeValidator(no_boolean)]
KeywordId = Annotated[Number, Field(ge=1, le=MAX_ID)]


class Request(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    source: Source


class PageProgressRequest(Request):
    keyword_id: KeywordId
    page: Annotated[Number, Field(ge=1, le=MAX_PAGE, description="The page that is done and stored.")]
    total_pages: Annotated[Number, Field(ge=0, le=MAX_PAGE)] | None = None
    jobs_found: Annotated[Number, Field(ge=0, le=MAX_JOBS, description="Jobs on this page.")] = 0
    claim_token: ClaimToken | None = None
    crawler_id: CrawlerId | None = None


class CrawlCompleteRequest(Request):
    keyword_id: KeywordId
    status: Outcome
    error_message: ErrorMessage | None = ""
    claim_token: ClaimToken | None = None
    crawler_id: CrawlerId | None = None


class ClaimsRequest(Request):
    """Names one claim, or all claims of a crawler."""

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
    reason: Annotated[str, Field(max_length=1000), AfterValidator(no_control_characters)] = ""
    until: Annotated[AwareDatetime, AfterValidator(in_utc)] | None = Field(
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

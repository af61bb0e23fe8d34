"""Bodies of the calls about keywords, and of their answers. Times are ISO 8601 with offset, dates are business days."""

import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic.config import JsonDict

from app.core.enums import CrawlStatus, KeywordState, Outcome, ReleaseReason, Source
from app.schemas.fields import (
    BULK_LIMIT,
    ClaimToken,
    CrawlerId,
    ErrorMessage,
    Instant,
    JobCount,
    KeywordId,
    Name,
    Page,
    PageCount,
    Reason,
)


class Request(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    source: Source


class AvailableQuery(BaseModel):
    source: Source
    limit: int = Field(1, ge=1, le=100)
    reserve: bool = Field(False, description="Claim the keywords; else they are only shown.")
    crawler_id: CrawlerId | None = Field(None, description="Holds a lease when given.")


class PageProgressRequest(Request):
    keyword_id: KeywordId
    page: Annotated[Page, Field(description="The page that is done and stored.")]
    total_pages: PageCount | None = None
    jobs_found: Annotated[JobCount, Field(description="Jobs on this page.")] = 0
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
    reason: Reason = ""
    until: Instant | None = Field(None, description="With an offset; none: until somebody resumes the source.")


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

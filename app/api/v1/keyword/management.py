"""What operators call: the work list, and pausing a source."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.dependencies import Now
from app.api.json_body import JSONRoute
from app.api.problem_details import documented
from app.controllers import keywords, pauses
from app.controllers.closures import end_cooldown
from app.core.enums import KeywordState, Source
from app.models.keyword import CRAWLER_ID_LENGTH, ERROR_MESSAGE_LENGTH, NAME_LENGTH
from app.schemas.answers import Answer
from app.schemas.keyword import (
    BulkCreateRequest,
    BulkCreateResult,
    CreateKeywordRequest,
    KeywordItem,
    KeywordPage,
    PauseRequest,
    PauseResult,
    ResumeRequest,
)

router = APIRouter(prefix="/keyword", tags=["operators"], route_class=JSONRoute)

NameFilter = Annotated[str | None, Query(max_length=NAME_LENGTH)]


@router.post(
    "", status_code=201, response_model=Answer[KeywordItem],
    responses={200: {"description": "It existed already", "model": Answer[KeywordItem]}, **documented(408, 413)},
)  # fmt: skip
async def create(body: CreateKeywordRequest, response: Response, at: Now) -> dict[str, object]:
    """Add a keyword; 200 and the same keyword when it exists."""
    item, created = await keywords.create_keyword(body.source, (body.city, body.job), at)
    response.status_code = 201 if created else 200
    return {"data": item}


@router.post("/bulk", response_model=Answer[BulkCreateResult], responses=documented(408, 413))
async def create_many(body: BulkCreateRequest, at: Now) -> dict[str, object]:
    """Add many keywords; those that exist are counted, not doubled."""
    names = [(name.city, name.job) for name in body.keywords]
    return {"data": await keywords.create_keywords(body.source, names, at)}


@router.get("", response_model=Answer[KeywordPage], responses=documented())
async def browse(
    at: Now, source: Source,
    status: Annotated[KeywordState | None, Query(description="What the keyword is today.")] = None,
    city: NameFilter = None, job: NameFilter = None,
    crawler_id: Annotated[str | None, Query(max_length=CRAWLER_ID_LENGTH)] = None,
    error: Annotated[
        str | None, Query(max_length=ERROR_MESSAGE_LENGTH, description="A part of the error message.")
    ] = None,
    cursor: Annotated[str, Query(pattern=r"^\d{1,18}$", description="next_cursor of the page before.")] = "0",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, object]:  # fmt: skip
    """The work list, by id."""
    page = await keywords.list_keywords(
        source, at, status=status, city=city, job=job, crawler_id=crawler_id, error=error,
        after_id=int(cursor), limit=limit,
    )  # fmt: skip
    return {"data": page}


@router.post("/pause", response_model=Answer[PauseResult], responses=documented(408, 413))
async def pause(body: PauseRequest, at: Now) -> dict[str, object]:
    """Hand out no keyword of this source, and tell its spiders to stop after their page."""
    paused = await pauses.pause(body.source, at, body.reason, body.until)
    return {"data": {"source": body.source, "paused": True, "reason": paused.reason, "until": paused.until}}


@router.post("/resume", response_model=Answer[PauseResult], responses=documented(408, 413))
async def resume(body: ResumeRequest) -> dict[str, object]:
    """End a pause or a cool-down."""
    await pauses.resume(body.source)
    await end_cooldown(body.source)
    return {"data": {"source": body.source, "paused": False}}

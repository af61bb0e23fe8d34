"""What spiders call, and the counts of a day."""

import math
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import Now, Rules, ServiceSettings
from app.api.fast_calls import Calls, answer
from app.api.json_body import JSONRoute
from app.api.problem_details import documented
from app.controllers import keyword as controller
from app.controllers.closures import Closure
from app.controllers.keyword import Reporter
from app.core.clock import Moment
from app.core.enums import Source
from app.schemas.answers import Answer, Handout
from app.schemas.fields import Day
from app.schemas.keyword import (
    AvailableKeyword,
    AvailableQuery,
    CrawlCompleteRequest,
    CrawlCompleteResult,
    HeartbeatRequest,
    HeartbeatResult,
    MarkUsedRequest,
    MarkUsedResult,
    PageProgressRequest,
    PageProgressResult,
    ReleaseRequest,
    ReleaseResult,
    StatsResult,
)

router = APIRouter(prefix="/keyword", tags=["spiders"], route_class=JSONRoute)


@router.get("/available", response_model=Handout[list[AvailableKeyword]], responses=documented())
async def available(
    query: Annotated[AvailableQuery, Query()], at: Now, rules: Rules, settings: ServiceSettings
) -> Response:
    """The next keywords: unfinished ones first, then failed ones with tries left, then those not asked for today."""
    handout = await controller.get_available(
        query.source, at, rules, limit=query.limit, reserve=query.reserve, crawler_id=query.crawler_id
    )
    if handout.claims:
        return answer(handout.claims)
    headers = {"Retry-After": str(retry_after(handout.closed, at, settings.empty_retry_after_seconds))}
    reason = {"reason": str(handout.closed)} if handout.closed else {}
    return answer([], headers, **reason)


def retry_after(closed: Closure | None, at: Moment, usual: int) -> int:
    """Seconds after which to ask again: at the end of a closure that has one, but within a day."""
    if closed and closed.until:
        return min(max(math.ceil((closed.until - at.now).total_seconds()), 1), 86400)
    return usual


@router.post(
    "/page-progress",
    response_model=Answer[PageProgressResult],
    responses=documented(404, 409, 408, 413),
    tags=["spiders"],
)
async def page_progress(body: PageProgressRequest, at: Now, rules: Rules) -> Response:
    """A page is done and stored. Reported again, it changes nothing."""
    reporter = Reporter(body.claim_token, body.crawler_id)
    progress = await controller.report_page_progress(
        body.source, body.keyword_id, body.page, reporter, at, rules,
        total_pages=body.total_pages, jobs_found=body.jobs_found,
    )  # fmt: skip
    return answer(progress)


@router.post("/crawl-complete", response_model=Answer[CrawlCompleteResult], responses=documented(404, 409, 408, 413))
async def crawl_complete(body: CrawlCompleteRequest, at: Now, rules: Rules) -> Response:
    """The crawl has ended, well or by the keyword's own fault. Reported again, it changes nothing."""
    reporter = Reporter(body.claim_token, body.crawler_id)
    completion = await controller.report_crawl_complete(
        body.source, body.keyword_id, body.status, reporter, at, rules, error_message=body.error_message or ""
    )
    return answer(completion)


@router.post("/heartbeat", response_model=Answer[HeartbeatResult], responses=documented(404, 409, 408, 413))
async def heartbeat(body: HeartbeatRequest, at: Now, rules: Rules) -> Response:
    """A sign of life between pages."""
    reporter = Reporter(body.claim_token, body.crawler_id)
    renewal = await controller.heartbeat(body.source, reporter, at, rules, keyword_id=body.keyword_id)
    return answer(renewal)


@router.post("/release", response_model=Answer[ReleaseResult], responses=documented(404, 409, 408, 413))
async def release(body: ReleaseRequest, at: Now, rules: Rules) -> dict[str, object]:
    """Give back one claim, or all claims of a crawler, without using up a try."""
    reporter = Reporter(body.claim_token, body.crawler_id)
    released = await controller.release(
        body.source, reporter, body.reason, at, rules,
        keyword_id=body.keyword_id, error_message=body.error_message or "",
    )  # fmt: skip
    return {"data": {"released": released}}


@router.post("/mark-used", response_model=Answer[MarkUsedResult], responses=documented(404, 408, 413))
async def mark_used(body: MarkUsedRequest, at: Now, rules: Rules) -> dict[str, object]:
    """The call of old spiders: this keyword is taken for today, and nothing more is reported of it."""
    return {"data": await controller.mark_used(body.source, body.keyword_id, at, rules)}


@router.get("/stats", response_model=Answer[StatsResult | dict[Source, StatsResult]], responses=documented())
async def stats(request: Request, source: Source | None = None, on_date: Day | None = None) -> dict[str, object]:
    """How a day stands: of one source, or without `source` of each by name."""
    day_counts = request.app.state.day_counts
    if source:
        return {"data": await day_counts(source, on_date)}
    return {"data": {each: await day_counts(each, on_date) for each in Source}}


FAST_CALLS: Calls = {
    ("GET", "/keyword/available"): available,
    ("POST", "/keyword/page-progress"): page_progress,
    ("POST", "/keyword/crawl-complete"): crawl_complete,
    ("POST", "/keyword/heartbeat"): heartbeat,
}

"""The yardstick: endpoints that take the same input and give the same answer, in plain FastAPI, and do nothing.

`python -m benchmarks.empty PORT`
"""

import sys
from datetime import UTC, datetime
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Query

from app.core.enums import CrawlStatus
from app.schemas.answers import Answer, Handout
from app.schemas.keyword import (
    AvailableKeyword,
    AvailableQuery,
    CrawlCompleteRequest,
    CrawlCompleteResult,
    HeartbeatRequest,
    HeartbeatResult,
    PageProgressRequest,
    PageProgressResult,
)

LEASE = datetime(2026, 3, 2, 10, 30, 0, 123456, tzinfo=UTC)

app = FastAPI()


@app.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "ok"}


@app.get("/api/v1/keyword/available", response_model_exclude_unset=True)
async def available(query: Annotated[AvailableQuery, Query()]) -> Handout[list[AvailableKeyword]]:
    keyword = AvailableKeyword(
        id=123456, city="北京", job="python", last_completed_page=0, total_pages=None, crawl_status=CrawlStatus.IDLE,
        retry_count=0, claim_token="Q2xhaW0gdG9rZW4gb2YgMTg", lease_expires_at=LEASE,
    )  # fmt: skip
    return Handout[list[AvailableKeyword]](data=[keyword])


@app.post("/api/v1/keyword/page-progress")
async def page_progress(body: PageProgressRequest) -> Answer[PageProgressResult]:
    result = PageProgressResult(applied=True, last_completed_page=body.page, lease_expires_at=LEASE, should_stop=False)
    return Answer[PageProgressResult](data=result)


@app.post("/api/v1/keyword/crawl-complete")
async def crawl_complete(body: CrawlCompleteRequest) -> Answer[CrawlCompleteResult]:
    result = CrawlCompleteResult(applied=True, crawl_status=CrawlStatus.COMPLETED, retry_count=0)
    return Answer[CrawlCompleteResult](data=result)


@app.post("/api/v1/keyword/heartbeat")
async def heartbeat(body: HeartbeatRequest) -> Answer[HeartbeatResult]:
    return Answer[HeartbeatResult](data=HeartbeatResult(renewed=1, lease_expires_at=LEASE, should_stop=False))


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)

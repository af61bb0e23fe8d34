"""The opponent: the controller that the service replaces, as it was, over Tortoise, on the same tables and indexes.

It looks, then writes: two spiders that look at once get the same keyword, and reports may overwrite each other.
`DATABASE_URL=… python -m benchmarks.original PORT`
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import Any

import uvicorn
from fastapi import FastAPI
from tortoise.contrib.fastapi import RegisterTortoise

from app.core.database import tortoise_config
from app.core.enums import CrawlStatus
from app.core.settings import load_settings
from app.models.keyword import BossKeyword
from app.schemas.keyword import CrawlCompleteRequest, PageProgressRequest

MAX_RETRIES = 3


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with RegisterTortoise(app, config=tortoise_config(load_settings())):
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "ok"}


async def next_keyword(today: date) -> BossKeyword | None:
    unfinished = BossKeyword.filter(crawl_status="partial", last_requested_date=today)
    failed = BossKeyword.filter(crawl_status="failed", last_requested_date=today, retry_count__lt=MAX_RETRIES)
    never = BossKeyword.filter(last_requested_date__isnull=True)
    earlier = BossKeyword.filter(last_requested_date__lt=today)
    for query in (unfinished, failed, never, earlier):
        keyword = await query.first()
        if keyword:
            return keyword
    return None


@app.get("/api/v1/keyword/available")
async def available(source: str, reserve: bool = False, crawler_id: str | None = None) -> dict[str, Any]:
    keyword = await next_keyword(date.today())
    if keyword is None:
        return {"data": []}
    keyword.last_requested_date = date.today()
    keyword.last_requested_at = keyword.crawl_started_at = datetime.now(UTC)
    keyword.crawl_status, keyword.crawler_id = CrawlStatus.CRAWLING, crawler_id
    await keyword.save()
    told = ("id", "city", "job", "last_completed_page", "total_pages", "crawl_status", "retry_count")
    return {"data": [{name: getattr(keyword, name) for name in told}]}


@app.post("/api/v1/keyword/page-progress")
async def page_progress(body: PageProgressRequest) -> dict[str, Any]:
    keyword = await BossKeyword.get(id=body.keyword_id)
    keyword.last_completed_page = body.page
    keyword.jobs_found += body.jobs_found
    if body.total_pages:
        keyword.total_pages = body.total_pages
    await keyword.save()
    return {"data": {"last_completed_page": keyword.last_completed_page}}


@app.post("/api/v1/keyword/crawl-complete")
async def crawl_complete(body: CrawlCompleteRequest) -> dict[str, Any]:
    keyword = await BossKeyword.get(id=body.keyword_id)
    keyword.crawl_status = CrawlStatus(body.status)
    await keyword.save()
    return {"data": {"crawl_status": keyword.crawl_status}}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)

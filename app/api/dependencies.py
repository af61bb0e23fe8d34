"""What endpoints ask for: the moment, and the rules of the state machine."""

from typing import Annotated

from fastapi import Depends, Request

from app.core.clock import Moment
from app.core.settings import CrawlRules, Settings


async def current_moment(request: Request) -> Moment:
    moment: Moment = request.app.state.clock.moment()
    return moment


async def crawl_rules(request: Request) -> CrawlRules:
    rules: CrawlRules = request.app.state.crawl_rules
    return rules


async def settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


Now = Annotated[Moment, Depends(current_moment)]
Rules = Annotated[CrawlRules, Depends(crawl_rules)]
ServiceSettings = Annotated[Settings, Depends(settings)]

"""What endpoints ask for: the moment, the rules of the state machine, the settings."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import State

from app.core.clock import Moment
from app.core.settings import CrawlRules, Settings

# By the name of the parameter.
PROVIDERS: dict[str, Callable[[State], Any]] = {
    "at": lambda state: state.clock.moment(),
    "rules": lambda state: state.crawl_rules,
    "settings": lambda state: state.settings,
}


async def current_moment(request: Request) -> Any:
    return PROVIDERS["at"](request.app.state)


async def crawl_rules(request: Request) -> Any:
    return PROVIDERS["rules"](request.app.state)


async def settings(request: Request) -> Any:
    return PROVIDERS["settings"](request.app.state)


Now = Annotated[Moment, Depends(current_moment)]
Rules = Annotated[CrawlRules, Depends(crawl_rules)]
ServiceSettings = Annotated[Settings, Depends(settings)]

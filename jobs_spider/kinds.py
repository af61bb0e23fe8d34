"""The boards by name. Each is imported only when it is wanted."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jobs_spider.board import Board
from jobs_spider.settings import BoardSettings, SpiderSettings
from jobs_spider.timekeeper import Timekeeper

START_FILES = {
    "boss": "jobs_spider.boss.boos_api",
    "qcwy": "jobs_spider.qcwy.qcwy",
    "zhilian": "jobs_spider.zhilian.zhilian_single",
}

S = TypeVar("S", bound=BoardSettings)


@dataclass(frozen=True)
class BoardKind(Generic[S]):
    """What a board's start file says of it, as its constant `KIND`."""

    source: str
    cookie_domain: str
    settings: type[S]
    make: Callable[[S, SpiderSettings, Timekeeper], Board]


def kind_of(source: str) -> BoardKind[Any]:
    kind: BoardKind[Any] = importlib.import_module(START_FILES[source]).KIND
    return kind

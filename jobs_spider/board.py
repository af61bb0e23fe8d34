"""What the loop knows of a board: how a page is asked for, what comes back, and what can go wrong.

CrawlProblem              why a page could not be crawled
├── Blocked               the board refuses us: the keyword goes back, the spider pauses
│   └── RateLimited       too fast for the board
├── LoginLost             no login, or one that no longer counts
│   └── WrongIdentity     logged in, but in the other role
├── Unreachable           no answer, or only a gateway's: tried again a few times first
├── OutputFailed          the jobs could not be written, so the page must not be reported
├── Stopped               told to stop in the middle of a page that takes long
├── Resting               nothing may be asked for a while (in `turns.py`)
└── KeywordFailed         the keyword's own fault: it fails, the spider goes on with the next one
    ├── UnknownCity       not in the city table; the board is not asked
    ├── ShapeChanged      an answer that this version cannot read
    ├── ServerFault       HTTP 500 for this keyword: tried again a few times first
    └── SpiderFault       an error in the spider itself
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from jobs_spider.record import Job

CloseAs = Literal["completed", "failed", "stopped", "blocked", "login", "network", "other"]

EXIT_BLOCKED = 4
EXIT_LOGIN = 5
EXIT_UNREACHABLE = 6
EXIT_OUTPUT = 7


class CrawlProblem(Exception):
    """Why a page could not be crawled; its text says what was seen and what to do."""

    reason: ClassVar[str]
    close_as: ClassVar[CloseAs]
    # What a run with --once or --max-keywords leaves with; 0 when the spider may simply go on.
    exit_code: ClassVar[int] = 0
    try_again: ClassVar[bool] = False


class Blocked(CrawlProblem):
    """The board refuses to answer us."""

    reason = "blocked"
    close_as = "blocked"
    exit_code = EXIT_BLOCKED


class RateLimited(Blocked):
    """The board asks us to go slower."""

    reason = "rate limited"


class LoginLost(CrawlProblem):
    """The board wants a login, or no longer accepts the one we have."""

    reason = "login"
    close_as = "login"
    exit_code = EXIT_LOGIN


class WrongIdentity(LoginLost):
    """The account is logged in, but as a recruiter."""

    reason = "wrong identity"


class Unreachable(CrawlProblem):
    """The board gave no answer, or only its gateway did."""

    reason = "network"
    close_as = "network"
    exit_code = EXIT_UNREACHABLE
    try_again = True


class OutputFailed(CrawlProblem):
    """The page's jobs could not be written to the output file."""

    reason = "output"
    close_as = "other"
    exit_code = EXIT_OUTPUT


class Stopped(CrawlProblem):
    """The spider was told to stop while it waited for something that may take long, such as a person."""

    reason = "stopped"
    close_as = "stopped"


class KeywordFailed(CrawlProblem):
    """This keyword cannot be crawled, others can."""

    reason = "failed"
    close_as = "failed"


class UnknownCity(KeywordFailed):
    """The city has no code of this board."""

    reason = "unknown city"


class ShapeChanged(KeywordFailed):
    """The board's answer is not what this version of the spider can read."""

    reason = "shape changed"


class ServerFault(KeywordFailed):
    """The board fails on this keyword, again and again."""

    reason = "server fault"
    try_again = True


class SpiderFault(KeywordFailed):
    """The spider itself failed on this keyword."""

    reason = "spider fault"


@dataclass(frozen=True)
class Answer:
    """What came back over the wire. `url` is where a redirect points to, when there is one."""

    status: int
    url: str
    body: bytes
    content_type: str = ""


@dataclass(frozen=True)
class Page:
    """One result page as read: its jobs in order, and what the board says of the rest.

    `bad_items` are the places (from 1) of the entries that could not be read.
    """

    jobs: list[Job]
    bad_items: tuple[int, ...]
    has_more: bool
    total_pages: int | None


class Search(Protocol):
    """One of the two ways to a result page: requests of our own, or the operator's browser."""

    def page(self, city_code: str, job: str, number: int) -> Page:
        """This result page, or a CrawlProblem."""

    def close(self) -> None:
        """Let go of the connection or the browser."""


class Board(Protocol):
    """A board as the loop sees it."""

    @property
    def source(self) -> str: ...

    @property
    def page_limit(self) -> int: ...

    def fetch_page(self, city: str, job: str, page: int) -> Page:
        """Ask the board once for one page and read it, or raise a CrawlProblem."""

    def close(self) -> None:
        """Let go of what it fetches with."""

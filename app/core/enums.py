"""The closed sets of words that tables, API and spiders share."""

from enum import StrEnum


class Source(StrEnum):
    """A job board."""

    BOSS = "boss"
    QCWY = "qcwy"
    ZHILIAN = "zhilian"


class CrawlStatus(StrEnum):
    """What a keyword's row says of its last claim; it holds for the business day in `last_requested_date`."""

    IDLE = "idle"
    CRAWLING = "crawling"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIAL = "partial"


class KeywordState(StrEnum):
    """What a keyword is today, as people see it: the row's status once its date is taken into account.

    `idle` is claimable today, `untracked` was taken today by an old spider that reports nothing.
    """

    IDLE = "idle"
    CRAWLING = "crawling"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIAL = "partial"
    UNTRACKED = "untracked"


class Outcome(StrEnum):
    """How a spider says that a crawl ended."""

    COMPLETED = "completed"
    FAILED = "failed"


class ReleaseReason(StrEnum):
    """Why a spider gives a claim back. None of these is the keyword's own fault."""

    STOPPED = "stopped"
    RESTARTED = "restarted"
    BLOCKED = "blocked"
    LOGIN = "login"
    NETWORK = "network"
    OTHER = "other"

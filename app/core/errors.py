"""Everything that the service refuses or cannot do.

ServiceError
├── KeywordNotFound      404
├── ClaimLost            409  the reporter does not hold the keyword's current claim
├── WrongState           409  the claim is the reporter's, but it has ended, or nobody is crawling
├── Stopping             503  this process has been told to stop; the others go on
└── DatabaseUnavailable  503  also when it stays too busy after the retries
    └── DatabaseRefused  503  the server is there and does not let us in
        └── DatabaseMissing  503  it has no such database

Contention, DuplicateRow and StatementRefused are answers of the database that the code above it handles; they never
reach a client.
StartupError ends the start with its one line.
"""

from typing import ClassVar


class ServiceError(Exception):
    """What a client is told when an operation is refused or fails."""

    status: ClassVar[int]
    type: ClassVar[str]
    title: ClassVar[str]
    retry_after: ClassVar[int | None] = None  # seconds

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class KeywordNotFound(ServiceError):
    """No keyword of this source has this id."""

    status = 404
    type = "/problems/keyword-not-found"
    title = "Keyword not found"


class ClaimLost(ServiceError):
    """The keyword's current claim is another one."""

    status = 409
    type = "/problems/claim-lost"
    title = "Claim lost"


class WrongState(ServiceError):
    """The keyword is not being crawled under this claim any more."""

    status = 409
    type = "/problems/wrong-state"
    title = "Wrong state"


class Stopping(ServiceError):
    """This process takes its last calls."""

    status = 503
    type = "/problems/stopping"
    title = "Stopping"


class DatabaseUnavailable(ServiceError):
    """The database is away, or too busy for as long as we are willing to wait."""

    status = 503
    type = "/problems/database-unavailable"
    title = "Database unavailable"
    retry_after = 5


class DatabaseRefused(DatabaseUnavailable):
    """User, password or database are wrong: waiting does not help, DATABASE_URL or the rights are to be mended."""


class DatabaseMissing(DatabaseRefused):
    """The server lets us in, and has no database of this name."""


class Contention(Exception):
    """A deadlock, a lock timeout or a lost race: the same operation may succeed when tried again."""


class DuplicateRow(Exception):
    """A unique index refused the row."""


class StatementRefused(Exception):
    """The statement does not fit the tables: they are missing or of another version, or we made a mistake."""


class StartupError(Exception):
    """The service cannot start; the message is one line that says what to do."""

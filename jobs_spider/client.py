"""The service's HTTP API as a spider uses it.

ServiceError
├── ServiceUnreachable    no answer, or 429 / 5xx / an unreadable one, after the retries: try again later
├── ClaimLost             409: the keyword is no longer ours
├── UnknownKeyword        404: somebody deleted it
└── ServiceRefused        everything else: this spider or its settings are wrong
    └── KeyRefused        401 / 403: not this call, but the caller

Every call may be repeated (the service counts nothing twice), so the session repeats them by itself. The claim is
the exception: when its answer is lost a keyword may be ours without our knowing, so `claim` is sent once and the
caller releases by crawler id before it asks again.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import requests
from pydantic import BaseModel, Field, ValidationError
from requests.adapters import HTTPAdapter
from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper

API_PATH = "/api/v1/keyword"
RETRY_STATUSES = (429, 500, 502, 503, 504)
LONGEST_BACKOFF_SECONDS = 30
MESSAGE_CHARACTERS = 300
CLAIM_CALL = "available"


class ServiceError(Exception):
    """A call to the service that did not do what was asked."""


class ServiceUnreachable(ServiceError):
    """The service gave no usable answer; whether the call had an effect is unknown."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ClaimLost(ServiceError):
    """The keyword is no longer ours: it went stale, was taken over, or has ended."""


class UnknownKeyword(ServiceError):
    """The service knows no such keyword (or no such address)."""


class ServiceRefused(ServiceError):
    """The service understood the call and will not have it."""


class KeyRefused(ServiceRefused):
    """The service does not accept us."""


class Claim(BaseModel):
    """A keyword in our hands. Printing it names the keyword and never the token."""

    id: int
    city: str
    job: str
    last_completed_page: int
    total_pages: int | None
    crawl_status: str
    retry_count: int
    claim_token: str = Field(repr=False)

    def __str__(self) -> str:
        # %r of the names, so that a line break in a keyword cannot forge a log line.
        return f"keyword={self.id} city={self.city!r} job={self.job!r}"


@dataclass(frozen=True)
class NothingToDo:
    """No keyword is free. `retry_after` is in seconds, None when the service names no time."""

    retry_after: float | None
    reason: str = ""


@dataclass(frozen=True)
class PageReport:
    """One stored page, as it is told to the service."""

    page: int
    total_pages: int | None
    jobs_found: int


class Owed(BaseModel):
    """A call that the service has yet to hear. Printing it never shows the token."""

    call: Literal["page-progress", "crawl-complete", "release"]
    body: dict[str, Any] = Field(repr=False)

    def __str__(self) -> str:
        return f"call={self.call} keyword={self.body.get('keyword_id')} page={self.body.get('page', '-')}"


class ClaimList(BaseModel):
    """The answer of `available`."""

    data: list[Claim]
    reason: str | None = None


class SignOfLifeAnswer(BaseModel):
    """The answers of `page-progress` and `heartbeat`, as far as a spider needs them."""

    class Data(BaseModel):
        should_stop: bool
        renewed: int = 1

    data: Data


Body = TypeVar("Body", bound=BaseModel)


class StoppableRetry(Retry):
    """urllib3's retry, whose waits end when the spider is told to stop."""

    def __init__(self, *args: Any, timekeeper: Timekeeper, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timekeeper = timekeeper

    def new(self, **options: Any) -> "StoppableRetry":
        return super().new(timekeeper=self._timekeeper, **options)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        asked = self.get_retry_after(response) if response else None
        self._timekeeper.wait(self.get_backoff_time() if asked is None else asked)


class KeywordClient:
    """One spider's connection to the service: its source, its crawler id, its session."""

    def __init__(self, source: str, crawler_id: str, settings: SpiderSettings, timekeeper: Timekeeper) -> None:
        self._names = {"source": source, "crawler_id": crawler_id}
        self._root = str(settings.base_url).rstrip("/") + API_PATH
        self._timeout = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
        self._session = requests.Session()
        retry = StoppableRetry(
            total=settings.service_retries,
            allowed_methods=None,
            status_forcelist=RETRY_STATUSES,
            raise_on_status=False,
            backoff_factor=settings.service_backoff_seconds,
            backoff_jitter=settings.service_backoff_seconds,
            backoff_max=LONGEST_BACKOFF_SECONDS,
            retry_after_max=LONGEST_BACKOFF_SECONDS,
            timekeeper=timekeeper,
        )
        self._session.mount(self._root, HTTPAdapter(max_retries=retry))
        # The longest matching address wins, so the claim alone is sent once.
        self._session.mount(f"{self._root}/{CLAIM_CALL}", HTTPAdapter(max_retries=0))

    def claim(self) -> Claim | NothingToDo:
        answer = self._call("GET", CLAIM_CALL, params={**self._names, "limit": "1", "reserve": "true"})
        handout = _read(ClaimList, answer)
        return handout.data[0] if handout.data else NothingToDo(_retry_after(answer), handout.reason or "")

    def page_report(self, claim: Claim, report: PageReport) -> Owed:
        """That a page is stored."""
        numbers = {"page": report.page, "total_pages": report.total_pages, "jobs_found": report.jobs_found}
        return Owed(call="page-progress", body={**self._names, **_proof(claim), **numbers})

    def completion(self, claim: Claim, status: str, error_message: str) -> Owed:
        """That the crawl has ended, well or by the keyword's own fault."""
        outcome = {"status": status, "error_message": error_message}
        return Owed(call="crawl-complete", body={**self._names, **_proof(claim), **outcome})

    def giving_back(self, claim: Claim, reason: str, error_message: str) -> Owed:
        """That somebody else may go on with the keyword."""
        # Without the crawler id, which would mean everything that this spider holds.
        why = {"source": self._names["source"], "reason": reason, "error_message": error_message}
        return Owed(call="release", body={**_proof(claim), **why})

    def deliver(self, owed: Owed) -> bool:
        """Make the call. True when an operator wants the crawl to stop."""
        answer = self._call("POST", owed.call, json=owed.body)
        return owed.call == "page-progress" and _read(SignOfLifeAnswer, answer).data.should_stop

    def heartbeat(self, claim: Claim) -> bool:
        """Renew a claim. True when an operator wants the crawl to stop."""
        answer = self._call("POST", "heartbeat", json={"source": self._names["source"], **_proof(claim)})
        renewal = _read(SignOfLifeAnswer, answer).data
        if not renewal.renewed:
            raise ClaimLost("heartbeat: nothing was renewed")
        return renewal.should_stop

    def release_all(self, reason: str) -> None:
        """Give back whatever this crawler id holds, whether we know of it or not."""
        self._call("POST", "release", json={**self._names, "reason": reason})

    def _call(self, method: str, name: str, **content: Any) -> requests.Response:
        try:
            # A followed redirect would turn a POST into a GET; it is told as a wrong address instead.
            answer = self._session.request(
                method, f"{self._root}/{name}", timeout=self._timeout, allow_redirects=False, **content
            )
        except requests.RequestException as error:
            raise ServiceUnreachable(f"{name}: {type(error).__name__}") from error
        if answer.status_code != 200:
            raise _refusal(name, answer)
        return answer


def _proof(claim: Claim) -> dict[str, Any]:
    return {"keyword_id": claim.id, "claim_token": claim.claim_token}


def _refusal(name: str, answer: requests.Response) -> ServiceError:
    message = f"{name}: HTTP {answer.status_code} {_detail(answer)}"
    if answer.status_code == 429 or answer.status_code >= 500:
        return ServiceUnreachable(message, _retry_after(answer) or 0.0)
    kinds: dict[int, type[ServiceError]] = {401: KeyRefused, 403: KeyRefused, 404: UnknownKeyword, 409: ClaimLost}
    return kinds.get(answer.status_code, ServiceRefused)(message)


def _detail(answer: requests.Response) -> str:
    """What the problem document says, for people."""
    try:
        problem = answer.json()
        told = f"{problem['detail']} {problem.get('errors', '')}".strip()
    except (ValueError, LookupError, TypeError, AttributeError):
        told = answer.reason or ""
    return told[:MESSAGE_CHARACTERS]


def _retry_after(answer: requests.Response) -> float | None:
    # The service sends whole seconds; the other form, a date, would need two clocks that agree.
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() and text.isascii() else None


def _read(body: type[Body], answer: requests.Response) -> Body:
    try:
        return body.model_validate_json(answer.content)
    except ValidationError as error:
        # Mostly a proxy's page; `from None`, because the error quotes the answer, in which a token may stand.
        raise ServiceUnreachable(f"unreadable answer ({error.error_count()} faults)") from None

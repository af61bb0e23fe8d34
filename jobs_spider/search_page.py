"""What the browser way has to know of a board's search page. Nothing here needs a browser.

Each board describes its own page in its own package (`boss/browser.py`); `browser_search.py` turns its pages and
`browser.py` holds the window.
"""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


@dataclass(frozen=True)
class Signs:
    """How one sees that a person is needed: by where the window is, or by an element in sight."""

    # Parts of «host/path». Never words of the page, nor its query: a filter value once passed for HTTP 403, and the
    # word 登录 stands on every page.
    places: tuple[str, ...]
    # A selector as Playwright reads it.
    elements: str

    def place(self, address: str) -> str | None:
        """The host and path of this address, when it is one of the places."""
        parts = urlsplit(address)
        where = f"{parts.hostname or ''}{parts.path}"
        return where if any(place in where for place in self.places) else None


@dataclass(frozen=True)
class Sent:
    """A request that the page's own script has sent."""

    method: str
    url: str
    body: str | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))


@dataclass(frozen=True)
class Asked:
    """Which result page such a request asks for."""

    job: str
    page: int


class SearchPage(Protocol):
    """One board's search page."""

    @property
    def source(self) -> str: ...

    @property
    def next_button(self) -> str | None:
        """Selector of what a person clicks for the next page; None when the list grows as one scrolls."""

    @property
    def check(self) -> Signs:
        """The board wants to know whether a person is there."""

    @property
    def login(self) -> Signs:
        """The board wants a login."""

    def address(self, city_code: str, job: str) -> str:
        """Where the search for this keyword begins, at its first page."""

    def asked(self, sent: Sent) -> Asked | None:
        """What this request asks for; None when it is not the search."""


def with_query(address: str, query: dict[str, str]) -> str:
    """The address with these parameters added, encoded: `C++` becomes C%2B%2B."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, urlencode(query))))))


def page_number(text: object) -> int:
    """The page that a request names; the first when it names none."""
    number = str(text or "")
    return int(number) if number.isdecimal() and number.isascii() else 1

"""What the stand-in's boards share: requests, shapes, replies, and how a board answers well or with a fault."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar

JSON_TYPE = "application/json; charset=utf-8"
ENVELOPES = ("zpData", "resultbody", "data")
HTML_TYPE = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Visit:
    """One request for a result page, as the access log shows it."""

    board: str
    city: str
    keyword: str
    page: int


@dataclass(frozen=True)
class Shape:
    """What the boards hold: so many pages of each keyword, of so many jobs."""

    pages: int
    page_size: int

    @property
    def total(self) -> int:
        return self.pages * self.page_size


@dataclass(frozen=True)
class Reply:
    """An answer before it is sent."""

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    location: str = ""


def as_json(content: object) -> Reply:
    return Reply(200, json.dumps(content, ensure_ascii=False).encode())


def as_html(text: str) -> Reply:
    return Reply(200, text.encode(), HTML_TYPE)


def digest(*parts: object) -> str:
    return sha256("|".join(map(str, parts)).encode()).hexdigest()


class Board:
    """A board's search. A subclass says how a job looks and what the answer around the list is."""

    source: ClassVar[str]
    path: ClassVar[str]
    method: ClassVar[str] = "GET"
    refusals: ClassVar[dict[str, Reply]]

    def __init__(self) -> None:
        self._odd_answers: dict[str, Callable[[Visit, Shape], Reply]] = {
            "shrinking_totals": self._with_shrinking_total,
            "repeat_page": self._first_page_again,
            "shifted_list": self._shifted,
            "empty": lambda visit, shape: as_json(self.answer(visit, [], Shape(0, shape.page_size))),
            "bad_items": self._with_bad_items,
            "changed_shape": self._changed,
            "broken_json": self._cut_off,
        }

    @property
    def faults(self) -> list[str]:
        return [*self.refusals, *self._odd_answers]

    def visit(self, query: dict[str, str], body: bytes) -> Visit:
        """What a request asks for."""
        raise NotImplementedError

    def job_id(self, visit: Visit, place: int) -> str:
        raise NotImplementedError

    def job(self, visit: Visit, place: int) -> dict[str, Any]:
        raise NotImplementedError

    def answer(self, visit: Visit, jobs: list[Any], shape: Shape) -> dict[str, Any]:
        """The whole answer around this list."""
        raise NotImplementedError

    def ids(self, city: str, keyword: str, page: int, count: int) -> list[str]:
        """The ids that the stand-in gives to a page's jobs; tests compare with them."""
        visit = Visit(self.source, city, keyword, page)
        return [self.job_id(visit, place) for place in range(count)]

    def reply(self, visit: Visit, shape: Shape, kind: str) -> Reply:
        # A city's name where its code belongs silently finds nothing, as at the boards.
        shape = shape if visit.city.isdigit() else Shape(0, shape.page_size)
        if kind in self.refusals:
            return self.refusals[kind]
        return self._odd_answers.get(kind, self._well)(visit, shape)

    def jobs(self, visit: Visit, shape: Shape) -> list[dict[str, Any]]:
        count = shape.page_size if 1 <= visit.page <= shape.pages else 0
        return [self.job(visit, place) for place in range(count)]

    def _well(self, visit: Visit, shape: Shape) -> Reply:
        return as_json(self.answer(visit, self.jobs(visit, shape), shape))

    def _with_shrinking_total(self, visit: Visit, shape: Shape) -> Reply:
        fewer = replace(shape, pages=max(1, shape.pages - visit.page + 1))
        return as_json(self.answer(visit, self.jobs(visit, shape), fewer))

    def _first_page_again(self, visit: Visit, shape: Shape) -> Reply:
        more = replace(shape, pages=max(shape.pages, visit.page + 1))
        return as_json(self.answer(visit, self.jobs(replace(visit, page=1), shape), more))

    def _shifted(self, visit: Visit, shape: Shape) -> Reply:
        # New jobs came in at the top meanwhile, so that half of the page before comes again.
        before = self.jobs(replace(visit, page=visit.page - 1), shape)
        half = len(before) // 2
        return as_json(self.answer(visit, [*before[half:], *self.jobs(visit, shape)[:half]], shape))

    def _with_bad_items(self, visit: Visit, shape: Shape) -> Reply:
        return as_json(self.answer(visit, [None, {}, *self.jobs(visit, shape)], shape))

    def _changed(self, visit: Visit, shape: Shape) -> Reply:
        return as_json({**self.answer(visit, [], shape), **{name: {"x": []} for name in ENVELOPES}})

    def _cut_off(self, visit: Visit, shape: Shape) -> Reply:
        whole = self._well(visit, shape)
        return replace(whole, body=whole.body[: len(whole.body) // 2])

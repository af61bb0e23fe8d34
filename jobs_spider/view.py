"""What the workers are doing, as a table on a terminal. In a log the plain lines say it all."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text


@dataclass
class WorkerView:
    """One worker as it is shown. Only its own thread writes here; the screen may see a moment between two changes."""

    name: str
    keyword: str = ""
    page: int = 0
    total_pages: int | None = None
    jobs: int = 0
    state: str = "starting"

    def begin(self, city: str, job: str, page: int, total_pages: int | None) -> None:
        self.keyword = f"{city} {job}"
        self.page, self.total_pages, self.jobs = page, total_pages, 0

    def page_done(self, page: int, total_pages: int | None, jobs: int) -> None:
        self.page, self.total_pages = page, total_pages
        self.jobs += jobs

    def rest(self, state: str) -> None:
        self.keyword, self.state = "", state


def table(views: Sequence[WorkerView]) -> Table:
    shown = Table(box=None, pad_edge=False)
    for heading in ("worker", "keyword", "page", "jobs", "state"):
        shown.add_column(heading, no_wrap=True, overflow="ellipsis")
    for view in views:
        pages, jobs = (f"{view.page} of {view.total_pages or '?'}", str(view.jobs)) if view.keyword else ("", "")
        shown.add_row(*(Text(_printable(cell)) for cell in (view.name, view.keyword, pages, jobs, view.state)))
    return shown


def _printable(text: str) -> str:
    # A keyword must not steer the terminal.
    return "".join(character if character.isprintable() else "�" for character in text)

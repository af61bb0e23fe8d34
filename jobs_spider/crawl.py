"""The one loop of all boards: claim, then for each page fetch, read, store, report and pause, then complete.

A page is stored before it is reported, so that the service's checkpoint never names a page that is not on the disk.
"""

import logging
import traceback
from dataclasses import dataclass
from pathlib import Path

from jobs_spider.board import Board, CloseAs, CrawlProblem, OutputFailed, Page, SpiderFault
from jobs_spider.client import Claim, ClaimLost, KeywordClient, PageReport, ServiceRefused, UnknownKeyword
from jobs_spider.output import Job, JobFiles, JobRecord
from jobs_spider.reports import Reports
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper

log = logging.getLogger(__name__)

EXIT_SERVICE = 3
LONGEST_BOARD_BACKOFF_SECONDS = 120.0


class Pacer:
    """The polite pause between two pages, also between the last page of a keyword and the first of the next."""

    def __init__(self, timekeeper: Timekeeper, shortest: float, longest: float) -> None:
        self._time = timekeeper
        self._shortest = shortest
        self._longest = longest
        self._asked_before = False

    def pause(self) -> None:
        if self._asked_before:
            self._time.wait(self._time.between(self._shortest, self._longest))
        self._asked_before = True


@dataclass(frozen=True)
class Kit:
    """What a crawl works with."""

    board: Board
    client: KeywordClient
    files: JobFiles
    timekeeper: Timekeeper
    pacer: Pacer
    settings: SpiderSettings


@dataclass(frozen=True)
class Closing:
    """How a keyword is to be closed at the service, and why."""

    reason: str
    close_as: CloseAs
    message: str = ""
    exit_code: int = 0


@dataclass(frozen=True)
class Ending:
    """How a keyword's crawl ended. An exit code other than 0 means trouble that is not the keyword's own."""

    reason: str
    pages: int
    exit_code: int = 0


STOPPED = Closing("stopped", "stopped")


class KeywordCrawl:
    """The crawl of one claimed keyword, from the page after its checkpoint."""

    def __init__(self, kit: Kit, claim: Claim) -> None:
        self._kit = kit
        self._claim = claim
        self._time = kit.timekeeper
        self._seen: set[tuple[str, ...]] = set()
        self._pages = 0
        settings = kit.settings
        self._reports = Reports(
            kit.client, claim, self._time, settings.service_backoff_seconds, settings.delivery_patience_seconds
        )

    def run(self) -> Ending:
        try:
            closing = self._crawl_pages()
            delivered = self._reports.close(lambda: self._close(closing))
        except (ClaimLost, UnknownKeyword) as gone:
            return self._ended("claim lost", 0, str(gone))
        except ServiceRefused as refused:
            return self._ended("refused by the service", EXIT_SERVICE, str(refused))
        if not delivered:
            return self._ended(f"{closing.reason}, not delivered", closing.exit_code or EXIT_SERVICE, closing.message)
        return self._ended(closing.reason, closing.exit_code, closing.message)

    def _ended(self, reason: str, exit_code: int, message: str) -> Ending:
        level = logging.WARNING if message else logging.INFO
        told = f": {message}" if message else ""
        log.log(level, "keyword ended %s pages=%d reason=%r%s", self._claim, self._pages, reason, told)
        return Ending(reason, self._pages, exit_code)

    def _close(self, closing: Closing) -> None:
        if closing.close_as in ("completed", "failed"):
            self._kit.client.complete(self._claim, closing.close_as, closing.message)
        else:
            self._kit.client.release(self._claim, closing.close_as, closing.message)

    def _crawl_pages(self) -> Closing:
        page = self._claim.last_completed_page
        end = self._end_at(page, self._claim.total_pages)
        try:
            # A keyword that has ended is completed even while stopping: that asks nothing more of the board.
            while end is None:
                if not self._may_go_on():
                    return STOPPED
                page += 1
                end = self._crawl_page(page)
        except CrawlProblem as problem:
            if self._time.stopping and problem.try_again:
                return STOPPED
            return Closing(problem.reason, problem.close_as, f"page {page}: {problem}", problem.exit_code)
        return Closing(end, "completed")

    def _may_go_on(self) -> bool:
        if not (self._time.stopping or self._reports.told_to_stop):
            self._kit.pacer.pause()
        return not (self._time.stopping or self._reports.told_to_stop)

    def _end_at(self, page: int, total_pages: int | None) -> str | None:
        if total_pages and page >= total_pages:
            return "total reached"
        return "page limit" if page >= self._kit.board.page_limit else None

    def _crawl_page(self, number: int) -> str | None:
        """Fetch, store and report one page. The reason when it was the last one."""
        page = self._fetch(number)
        self._pages += 1
        if page.bad_items:
            log.warning("unreadable entries skipped %s page=%d entries=%d", self._claim, number, page.bad_items)
        if not page.jobs:
            return "empty" if number == 1 else "past the end"
        fresh = {job.identity: job for job in page.jobs if job.identity not in self._seen}
        if not fresh:
            return "repeats"
        self._seen.update(fresh)
        self._store(number, list(fresh.values()))
        # The board's total may shrink below the page that it has just shown.
        total_pages = max(page.total_pages, number) if page.total_pages else None
        self._reports.add(PageReport(number, total_pages, len(fresh)))
        return self._end_at(number, page.total_pages) if page.has_more else "last page"

    def _fetch(self, number: int) -> Page:
        """One page, asked for again when the network failed; a refusal of the board is never repeated."""
        attempt = 0
        while True:
            try:
                return self._ask_board(number)
            except CrawlProblem as problem:
                if not problem.try_again or attempt >= self._kit.settings.board_retries:
                    raise
                first = self._kit.settings.board_backoff_seconds
                pause = self._time.backoff(attempt, first, LONGEST_BOARD_BACKOFF_SECONDS)
                log.warning("page tried again in %.0f s %s page=%d: %s", pause, self._claim, number, problem)
                self._time.wait(pause)
                if self._time.stopping:
                    raise
            attempt += 1

    def _ask_board(self, number: int) -> Page:
        try:
            return self._kit.board.fetch_page(self._claim.city, self._claim.job, number)
        except CrawlProblem:
            raise
        except Exception as error:
            # An answer that trips the reader must cost this keyword a try, not the spider its life, or the next
            # spider would meet the same page. Told by its place alone: its text may quote the answer.
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            log.error("spider fault %s page=%d: %s at %s", self._claim, number, type(error).__name__, place)
            raise SpiderFault(
                f"{type(error).__name__} at {place} while reading the page: a fault of this spider"
            ) from None

    def _store(self, number: int, jobs: list[Job]) -> None:
        found_by = {
            "keyword": self._claim.job,
            "keyword_city": self._claim.city,
            "page": number,
            "fetched_at": self._time.now(),
        }
        try:
            self._kit.files.append([JobRecord.model_validate(job.model_dump() | found_by) for job in jobs])
        except OSError as error:
            raise OutputFailed(f"the jobs could not be written ({error}). Make room or correct the folder.") from error
        log.info("page stored %s page=%d jobs=%d", self._claim, number, len(jobs))

"""The one loop of all boards: claim, then for each page fetch, read, store, report and pause, then complete.

A page is stored before it is reported, so that the service's checkpoint never names a page that is not on the disk.
"""

import logging
import traceback
from dataclasses import dataclass
from pathlib import Path

from jobs_spider.board import Blocked, Board, CloseAs, CrawlProblem, OutputFailed, Page, SpiderFault, Stopped
from jobs_spider.client import Claim, ClaimLost, KeywordClient, Owed, PageReport, ServiceRefused, UnknownKeyword
from jobs_spider.cooldown import CoolDown
from jobs_spider.doubts import EmptyPages
from jobs_spider.heartbeat import Heartbeat
from jobs_spider.outbox import Outbox
from jobs_spider.output import JobFiles
from jobs_spider.record import Job, JobRecord
from jobs_spider.reports import Reports
from jobs_spider.settings import SpiderSettings
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.turns import Pacer, Turns
from jobs_spider.view import WorkerView

log = logging.getLogger(__name__)

EXIT_SERVICE = 3
LONGEST_BOARD_BACKOFF_SECONDS = 120.0
REPEATS = "repeats"
ODD_ENDS = {REPEATS: "page {} brought only jobs that were seen before"}


@dataclass(frozen=True)
class Kit:
    """What a crawl works with."""

    board: Board
    client: KeywordClient
    # A second connection, for the thread that renews claims.
    pulse: KeywordClient
    outbox: Outbox
    files: JobFiles
    timekeeper: Timekeeper
    pacer: Pacer
    turns: Turns
    cool_down: CoolDown
    empty_pages: EmptyPages
    view: WorkerView
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
        self._view = kit.view
        settings = kit.settings
        self._heartbeat = Heartbeat(kit.pulse, claim, settings.heartbeat_seconds)
        self._reports = Reports(
            kit.client,
            kit.outbox,
            claim,
            self._time,
            settings.service_backoff_seconds,
            settings.delivery_patience_seconds,
        )

    def run(self) -> Ending:
        self._view.begin(self._claim.city, self._claim.job, self._claim.last_completed_page, self._claim.total_pages)
        with self._heartbeat:
            try:
                closing = self._crawl_pages()
                delivered = self._reports.close(self._last_call(closing))
            except (ClaimLost, UnknownKeyword) as gone:
                self._reports.forget()
                return self._ended("claim lost", 0, str(gone))
            except ServiceRefused as refused:
                return self._ended("refused by the service", EXIT_SERVICE, str(refused))
        reason, exit_code = closing.reason, closing.exit_code
        if not delivered:
            reason, exit_code = f"{reason}, not delivered", exit_code or EXIT_SERVICE
        return self._ended(reason, exit_code, closing.message)

    def _ended(self, reason: str, exit_code: int, message: str) -> Ending:
        level = logging.WARNING if message else logging.INFO
        told = f": {message}" if message else ""
        log.log(level, "keyword ended %s pages=%d reason=%r%s", self._claim, self._pages, reason, told)
        return Ending(reason, self._pages, exit_code)

    def _last_call(self, closing: Closing) -> Owed:
        make = (
            self._kit.client.completion if closing.close_as in ("completed", "failed") else self._kit.client.giving_back
        )
        return make(self._claim, closing.close_as, closing.message)

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
        except Stopped:
            return STOPPED
        except CrawlProblem as problem:
            if self._time.stopping and problem.try_again:
                return STOPPED
            return Closing(problem.reason, problem.close_as, f"page {page}: {problem}", problem.exit_code)
        # Nobody needs to hear of a plain end; one that may hide something is told with the completion.
        return Closing(end, "completed", f"{end}: {ODD_ENDS[end].format(page)}" if end in ODD_ENDS else "")

    def _may_go_on(self) -> bool:
        if not self._is_told_to_stop():
            self._view.state = "pausing"
            self._kit.pacer.pause()
        self._heartbeat.check()
        return not self._is_told_to_stop()

    def _is_told_to_stop(self) -> bool:
        return self._time.stopping or self._reports.told_to_stop or self._heartbeat.told_to_stop

    def _end_at(self, page: int, total_pages: int | None) -> str | None:
        if total_pages and page >= total_pages:
            return "total reached"
        return "page limit" if page >= self._kit.board.page_limit else None

    def _crawl_page(self, number: int) -> str | None:
        """Fetch, store and report one page. The reason when it was the last one."""
        page = self._fetch(number)
        self._pages += 1
        if page.bad_items:
            places = ",".join(map(str, page.bad_items))
            log.warning("unreadable entries skipped %s page=%d entries=%s", self._claim, number, places)
        if not page.jobs:
            return self._end_without_jobs(number)
        self._kit.empty_pages.jobs_came()
        fresh = {job.identity: job for job in page.jobs if job.identity not in self._seen}
        if not fresh:
            return REPEATS
        self._seen.update(fresh)
        self._store(number, list(fresh.values()))
        total_pages = self._believable_total(page, number)
        self._reports.add(PageReport(number, total_pages, len(fresh)))
        self._view.page_done(number, total_pages, len(fresh))
        return self._end_at(number, None) if page.has_more else "last page"

    def _believable_total(self, page: Page, number: int) -> int | None:
        """The board's total, unless it has shrunk below what the board itself shows: a resume would end too early."""
        if page.total_pages is None:
            return None
        if page.has_more:
            return page.total_pages if page.total_pages > number else None
        return max(page.total_pages, number)

    def _end_without_jobs(self, number: int) -> str:
        if number > 1:
            return "past the end"
        if self._kit.empty_pages.believes(self._claim.id):
            return "empty"
        raise Blocked(
            f"no job on the first page of {self._kit.settings.empty_first_pages} keywords in a row: probably a silent "
            "block. Search once in the browser; if these keywords really have no jobs, SPIDER_EMPTY_FIRST_PAGES=0."
        )

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
        self._view.state = "waiting for a turn"
        self._kit.turns.take()
        self._view.state = f"asking for page {number}"
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
        city, now, keep_raw = self._claim.city, self._time.now(), self._kit.settings.keep_raw
        try:
            self._kit.files.append([JobRecord.found(job, self._claim.job, city, number, now, keep_raw) for job in jobs])
        except OSError as error:
            raise OutputFailed(f"the jobs could not be written ({error}). Make room or correct the folder.") from error
        log.info("page stored %s page=%d jobs=%d", self._claim, number, len(jobs))

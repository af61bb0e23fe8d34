"""The workers of one spider process: a thread each, with a board session, connections and a crawler id of its own.

Threads, because a worker does nothing but wait: for answers, for its turn, for the next keyword. They share the stop
signal, the quota of keywords and the pause after trouble, and what the whole machine shares stands in files.
"""

import logging
import os
import re
import secrets
import socket
import threading
import traceback
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.live import Live

from jobs_spider.board import Board
from jobs_spider.client import KeywordClient
from jobs_spider.cooldown import CoolDown
from jobs_spider.crawl import Kit
from jobs_spider.doubts import EmptyPages
from jobs_spider.kinds import BoardKind
from jobs_spider.ledger import Ledger
from jobs_spider.night import Night
from jobs_spider.outbox import NameTaken, Outbox
from jobs_spider.output import JobFiles
from jobs_spider.settings import BoardSettings, SpiderSettings, WrongSetting
from jobs_spider.spider import Quota, Spider
from jobs_spider.timekeeper import SLICE_SECONDS, Timekeeper
from jobs_spider.turns import Pacer, Turns
from jobs_spider.view import WorkerView, table

log = logging.getLogger(__name__)

EXIT_ERROR = 1


class Crew:
    """The workers of one board, and what they share."""

    def __init__(
        self, kind: BoardKind[Any], board: BoardSettings, settings: SpiderSettings, timekeeper: Timekeeper
    ) -> None:
        self._kind = kind
        self._board = board
        self._settings = settings
        self._time = timekeeper
        self._cool_down = CoolDown(timekeeper, settings.trouble_pause_seconds, settings.trouble_pause_max_seconds)
        self._empty_pages = EmptyPages(settings.empty_first_pages)
        self._codes: list[int] = []

    def run(self, workers: int, most_keywords: int | None, console: Console) -> int:
        """Let them work until all have left. The exit code. Raises WrongSetting before any has begun."""
        quota = Quota(most_keywords)
        boards = [self._kind.make(self._board, self._settings, self._time) for _ in range(workers)]
        kits = [self.kit(board, name) for board, name in zip(boards, self._names(workers), strict=True)]
        with ExitStack() as screen:
            if console.is_terminal:
                views = [kit.view for kit in kits]
                screen.enter_context(
                    Live(get_renderable=lambda: table(views), console=console, refresh_per_second=2, transient=True)
                )
            for kit in kits:
                screen.callback(kit.outbox.close)
            self._work_together(kits, quota)
        return min(filter(None, self._codes), default=0)

    def _names(self, workers: int) -> list[str | None]:
        """The stable names of the workers; None for each when no name is set."""
        name = self._settings.id
        return [name] if workers == 1 else [name and f"{name}-{number}" for number in range(1, workers + 1)]

    def _work_together(self, kits: list[Kit], quota: Quota) -> None:
        if len(kits) == 1:
            self._work(kits[0], quota)
            return
        threads = [
            threading.Thread(target=self._work, args=(kit, quota), name=kit.view.name, daemon=True) for kit in kits
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            # In slices: Windows hears a Ctrl-C only between two of them.
            while thread.is_alive():
                thread.join(SLICE_SECONDS)

    def _work(self, kit: Kit, quota: Quota) -> None:
        try:
            # Closed in the thread that used it: a browser knows no other.
            with closing(kit.board):
                self._codes.append(Spider(kit, quota).run())
        except Exception as error:
            # Told by its place alone, and the others stop too: whoever supervises the process sees that it is gone.
            frame = traceback.extract_tb(error.__traceback__)[-1]
            log.error("error in the spider: %s at %s:%s", type(error).__name__, Path(frame.filename).name, frame.lineno)
            self._codes.append(EXIT_ERROR)
            self._time.stop()

    def kit(self, board: Board, stable_name: str | None) -> Kit:
        """What one worker works with."""
        settings, time, source = self._settings, self._time, board.source
        crawler_id = stable_name or new_crawler_id()
        log.info("spider of %s starts as crawler_id=%s", source, crawler_id)
        zone = ZoneInfo(settings.timezone)
        ledger = Ledger(settings.state_dir, source, self._board.requests_per_minute, self._board.pages_per_day)
        # A heartbeat that fails is followed by the next one; it repeats nothing by itself.
        once = settings.model_copy(update={"service_retries": 0})
        return Kit(
            board=board,
            client=KeywordClient(source, crawler_id, settings, time),
            pulse=KeywordClient(source, crawler_id, once, time),
            outbox=self._outbox(source, stable_name),
            files=JobFiles(settings.output_dir, zone, settings.output_format),
            timekeeper=time,
            pacer=Pacer(time, settings),
            turns=Turns(time, ledger, Night(settings.night_hours, zone), zone, self._cool_down),
            cool_down=self._cool_down,
            empty_pages=self._empty_pages,
            view=WorkerView(crawler_id),
            settings=settings,
        )

    def _outbox(self, source: str, stable_name: str | None) -> Outbox:
        try:
            return Outbox.open(self._settings.state_dir, source, stable_name)
        except NameTaken as taken:
            raise WrongSetting(f"SPIDER_ID: {taken}") from None


def new_crawler_id() -> str:
    """Unlike any other, also among containers that share a host name and process numbers."""
    host = re.sub(r"[^A-Za-z0-9_.-]", "-", socket.gethostname())[:32]
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"

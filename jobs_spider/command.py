"""What the boards' start files share: options, settings, log, signals, exit codes.

Exit codes: 0 done, nothing to do, or stopped by a signal; 1 an error in the spider; 2 a wrong setting or option;
3 the service is away or refuses. Only with --once and --max-keywords, where there is no pause to wait it out:
4 blocked or rate limited by the board; 5 login lost or wrong identity; 6 board unreachable; 7 output not writable.
"""

import logging
import os
import re
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from types import FrameType
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from jobs_spider.board import Board
from jobs_spider.client import KeywordClient
from jobs_spider.crawl import Kit, Pacer
from jobs_spider.output import JobFiles
from jobs_spider.settings import SpiderSettings, WrongSetting
from jobs_spider.spider import Spider
from jobs_spider.timekeeper import Timekeeper

EXIT_WRONG_SETTING = 2
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGBREAK")
EXIT_CODES = (
    "Exit codes: 0 done, nothing to do, or stopped by a signal; 1 error in the spider; 2 wrong setting or option; "
    "3 service away or refusing; with --once or --max-keywords also: 4 blocked or rate limited, 5 login lost or wrong "
    "identity, 6 board unreachable, 7 output not writable (without them the spider pauses and goes on)."
)

Once = Annotated[bool, typer.Option("--once", help="Crawl one keyword, then leave.")]
MaxKeywords = Annotated[int | None, typer.Option(min=1, help="Leave after so many keywords, or when none is left.")]
BaseUrl = Annotated[str | None, typer.Option(help="Address of the service; wins over SPIDER_BASE_URL.")]


def crawl_board(
    make_board: Callable[[SpiderSettings, Timekeeper], Board],
    once: bool,
    max_keywords: int | None,
    base_url: str | None,
) -> int:
    """Start a spider of one board and let it live. The exit code."""
    timekeeper = Timekeeper()
    try:
        settings = SpiderSettings.load(**({"base_url": base_url} if base_url else {}))
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=settings.log_level)
        board = make_board(settings, timekeeper)
    except WrongSetting as wrong:
        print(f"wrong setting: {wrong}", file=sys.stderr)
        return EXIT_WRONG_SETTING
    stop_on_signals(timekeeper)
    with closing(board):
        return Spider(make_kit(settings, board, timekeeper), 1 if once else max_keywords).run()


def make_kit(settings: SpiderSettings, board: Board, timekeeper: Timekeeper) -> Kit:
    crawler_id = settings.id or new_crawler_id()
    logging.getLogger(__name__).info("spider of %s starts as crawler_id=%s", board.source, crawler_id)
    return Kit(
        board=board,
        client=KeywordClient(board.source, crawler_id, settings, timekeeper),
        files=JobFiles(settings.output_dir, ZoneInfo(settings.timezone)),
        timekeeper=timekeeper,
        pacer=Pacer(timekeeper, settings.pause_min_seconds, settings.pause_max_seconds),
        settings=settings,
    )


def new_crawler_id() -> str:
    """Unlike any other, also among containers that share a host name and process numbers."""
    host = re.sub(r"[^A-Za-z0-9_.-]", "-", socket.gethostname())[:32]
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


def stop_on_signals(timekeeper: Timekeeper) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        # In a thread of its own: this runs between two steps of the main thread, which may just hold the lock of the
        # event that is to be set.
        threading.Thread(target=timekeeper.stop).start()

    for name in STOP_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)

"""What the boards' start files share: options, settings, log, signals, exit codes.

Exit codes: 0 done, nothing to do, or stopped by a signal; 1 an error in the spider; 2 a wrong setting or option;
3 the service is away or refuses. Only with --once and --max-keywords, where there is no pause to wait it out:
4 blocked or rate limited by the board; 5 login lost or wrong identity; 6 board unreachable; 7 output not writable;
8 nothing may be asked now (night hours, the day's page budget). Of several workers' codes the smallest but 0 counts.
"""

import io
import logging
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.highlighter import NullHighlighter
from rich.logging import RichHandler

from jobs_spider.cookies import is_readable_by_others
from jobs_spider.kinds import BoardKind
from jobs_spider.settings import BoardSettings, SpiderSettings, WrongSetting
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.workers import Crew

log = logging.getLogger(__name__)

EXIT_WRONG_SETTING = 2
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGBREAK")
EXIT_CODES = (
    "Exit codes: 0 done, nothing to do, or stopped by a signal; 1 error in the spider; 2 wrong setting or option; "
    "3 service away or refusing; with --once or --max-keywords also: 4 blocked or rate limited, 5 login lost or wrong "
    "identity, 6 board unreachable, 7 output not writable, 8 night hours or page budget used up (without them the "
    "spider pauses and goes on)."
)

Once = Annotated[bool, typer.Option("--once", help="Crawl one keyword, then leave.")]
MaxKeywords = Annotated[int | None, typer.Option(min=1, help="Leave after so many keywords, or when none is left.")]
BaseUrl = Annotated[str | None, typer.Option(help="Address of the service; wins over SPIDER_BASE_URL.")]
Workers = Annotated[int, typer.Option(min=1, max=50, help="Keywords to crawl at the same time, by a thread each.")]


def crawl_board(kind: BoardKind[Any], once: bool, max_keywords: int | None, base_url: str | None, workers: int) -> int:
    """Start the spider of one board and let it live. The exit code."""
    survive_narrow_consoles()
    console = Console(stderr=True)
    try:
        settings = SpiderSettings.load(**({"base_url": base_url} if base_url else {}))
        start_log(settings.log_level, console, workers)
        board_settings = kind.settings.load()
        warn_of_open_cookies(board_settings.cookie_file)
        warn_of_missing_login(kind, board_settings)
    except WrongSetting as wrong:
        print(f"wrong setting: {wrong}", file=sys.stderr)
        return EXIT_WRONG_SETTING
    timekeeper = Timekeeper()
    stop_on_signals(timekeeper)
    try:
        return Crew(kind, board_settings, settings, timekeeper).run(workers, 1 if once else max_keywords, console)
    except WrongSetting as wrong:
        print(f"wrong setting: {wrong}", file=sys.stderr)
        return EXIT_WRONG_SETTING


def start_log(level: str, console: Console, workers: int) -> None:
    if console.is_terminal:
        # Through the console, which keeps the lines above the table.
        handler = RichHandler(console=console, show_path=False, highlighter=NullHighlighter())
        logging.basicConfig(format="%(message)s", datefmt="[%X]", level=level, handlers=[handler])
    else:
        worker = "%(threadName)s " if workers > 1 else ""
        logging.basicConfig(format=f"%(asctime)s %(levelname)s {worker}%(message)s", level=level)


def survive_narrow_consoles() -> None:
    """A Windows console in GBK cannot show every character of a keyword; a question mark is better than the end."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def warn_of_open_cookies(cookie_file: Path | None) -> None:
    if cookie_file and is_readable_by_others(cookie_file):
        log.warning("other users of this machine can read the cookie file %s: chmod 600 %s", cookie_file, cookie_file)


def warn_of_missing_login(kind: BoardKind[Any], board: BoardSettings) -> None:
    if board.fetch == "requests" and board.without_login and not board.cookies(kind.cookie_domain):
        name = kind.source.upper()
        log.warning(
            "no cookies are set (%s_COOKIE, %s_COOKIE_FILE): without a login %s", name, name, board.without_login
        )


def stop_on_signals(timekeeper: Timekeeper) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        # In a thread of its own: this runs between two steps of the main thread, which may just hold the lock of the
        # event that is to be set.
        threading.Thread(target=timekeeper.stop).start()

    for name in STOP_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)

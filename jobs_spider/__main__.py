"""`python -m jobs_spider boss|qcwy|zhilian` crawls one board; `python -m jobs_spider doctor` tells what is missing."""

import sys
from typing import Annotated, Any

import typer

from jobs_spider.command import (
    EXIT_CODES,
    EXIT_WRONG_SETTING,
    BaseUrl,
    MaxKeywords,
    Once,
    Workers,
    crawl_board,
    survive_narrow_consoles,
)
from jobs_spider.doctor import examine
from jobs_spider.kinds import START_FILES, BoardKind, MissingBoard, kind_of

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True, help="Spiders for three job boards."
)


def board(source: str) -> BoardKind[Any]:
    try:
        return kind_of(source)
    except MissingBoard as missing:
        print(missing, file=sys.stderr)
        raise typer.Exit(EXIT_WRONG_SETTING) from None


@app.command(epilog=EXIT_CODES)
def boss(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl Boss 直聘."""
    raise typer.Exit(crawl_board(board("boss"), once, max_keywords, base_url, workers))


@app.command(epilog=EXIT_CODES)
def qcwy(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl 前程无忧 (51job)."""
    raise typer.Exit(crawl_board(board("qcwy"), once, max_keywords, base_url, workers))


@app.command(epilog=EXIT_CODES)
def zhilian(
    once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1
) -> None:
    """Crawl 智联招聘."""
    raise typer.Exit(crawl_board(board("zhilian"), once, max_keywords, base_url, workers))


@app.command(epilog="Exit codes: 0 nothing is missing, 1 something is, 2 wrong option.")
def doctor(
    source: Annotated[str | None, typer.Argument(help="boss, qcwy or zhilian; all of them when left out.")] = None,
    base_url: BaseUrl = None,
) -> None:
    """Tell what is missing before a spider can work. No board is asked."""
    if source and source not in START_FILES:
        raise typer.BadParameter(f"not one of {', '.join(START_FILES)}", param_hint="source")
    survive_narrow_consoles()
    raise typer.Exit(examine(source, base_url))


if __name__ == "__main__":
    app()

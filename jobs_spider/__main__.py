"""`python -m jobs_spider`: boss, qcwy, zhilian crawl a board, `doctor` tells what is missing, `merge` joins files."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from jobs_spider.command import (
    EXIT_CODES,
    BaseUrl,
    MaxKeywords,
    Once,
    Workers,
    crawl_board,
    survive_narrow_consoles,
)
from jobs_spider.doctor import examine
from jobs_spider.kinds import START_FILES, kind_of
from jobs_spider.merge import CannotMerge, merge

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True, help="Spiders for three job boards."
)


@app.command(epilog=EXIT_CODES)
def boss(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl Boss 直聘."""
    raise typer.Exit(crawl_board(kind_of("boss"), once, max_keywords, base_url, workers))


@app.command(epilog=EXIT_CODES)
def qcwy(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl 前程无忧 (51job)."""
    raise typer.Exit(crawl_board(kind_of("qcwy"), once, max_keywords, base_url, workers))


@app.command(epilog=EXIT_CODES)
def zhilian(
    once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1
) -> None:
    """Crawl 智联招聘."""
    raise typer.Exit(crawl_board(kind_of("zhilian"), once, max_keywords, base_url, workers))


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


@app.command("merge", epilog="Exit codes: 0 done, 1 could not be done, 2 wrong option.")
def merge_files(
    output: Annotated[Path, typer.Argument(help="File to write, .jsonl or .csv.")],
    inputs: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Job files of spiders.")],
) -> None:
    """Put job files together, each job once: by source and job_id, the newest find wins."""
    survive_narrow_consoles()
    total = 2 * sum(path.stat().st_size for path in inputs)
    try:
        with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
            task = bar.add_task("merging", total=total)
            merged = merge(output, inputs, lambda count: bar.advance(task, count))
    except (CannotMerge, OSError) as error:
        print(f"not merged: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(f"{output}: {merged.jobs} jobs of {merged.lines} lines")
    if merged.unreadable:
        print(
            f"{merged.unreadable} lines left out, unreadable: the first is {merged.first_unreadable}", file=sys.stderr
        )


if __name__ == "__main__":
    app()

"""The job files: one a source and business day, whole lines only, as JSON Lines or as CSV."""

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from filelock import FileLock

from jobs_spider.record import JobRecord

Format = Literal["jsonl", "csv"]

LOCK_SECONDS = 30
TAIL_BLOCK_BYTES = 65536
# Excel takes a file for UTF-8 only with this mark at its start.
BOM = "\ufeff".encode()
# What a spreadsheet takes for a formula; a quote before it makes it a text.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
TAG_SEPARATOR = "; "
CSV_FIELDS = tuple(JobRecord.model_fields)


class JobFiles:
    """The output folder. Several spiders on one machine may share it."""

    def __init__(self, folder: Path, timezone: ZoneInfo, format: Format = "jsonl") -> None:
        self._folder = folder
        self._timezone = timezone
        self._format: Format = format

    def path(self, source: str, moment: datetime) -> Path:
        day = moment.astimezone(self._timezone).date().isoformat()
        return self._folder / f"{source}-{day}.{self._format}"

    def append(self, records: Sequence[JobRecord]) -> None:
        """Store one page's records; when this returns they are on the disk, and the page may be reported."""
        path = self.path(records[0].source, records[0].fetched_at)
        self._folder.mkdir(parents=True, exist_ok=True)
        with (
            FileLock(self._folder / f".{records[0].source}.lock", timeout=LOCK_SECONDS),
            path.open("a+b", buffering=0) as file,
        ):
            cut_broken_tail(file)
            whole = file.seek(0, io.SEEK_END)
            left = memoryview(self._text(records, is_new=not whole))
            try:
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                # A full disk takes a part of a page; the page is fetched again, and its first lines would be doubled.
                file.truncate(whole)
                raise

    def _text(self, records: Sequence[JobRecord], is_new: bool) -> bytes:
        if self._format == "jsonl":
            return "".join(record.model_dump_json() + "\n" for record in records).encode()
        return (BOM + csv_lines([CSV_FIELDS]) if is_new else b"") + csv_lines(map(csv_row, records))


def csv_row(record: JobRecord) -> list[str]:
    """A record's cells, in the order of `CSV_FIELDS`. No cell is a formula, and none holds a line break."""
    told = record.model_dump(mode="json")
    told["tags"] = TAG_SEPARATOR.join(record.tags)
    told["raw"] = json.dumps(record.raw, ensure_ascii=False) if record.raw else None
    return ["" if told[name] is None else inert(told[name]) for name in CSV_FIELDS]


def inert(value: object) -> str:
    """A cell's text that no spreadsheet computes."""
    # One line a record: a killed writer's half line can then be told and cut.
    one_line = " ".join(str(value).splitlines())
    return f"'{one_line}" if isinstance(value, str) and looks_like_formula(one_line) else one_line


def looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet might compute this text."""
    return text.lstrip(" ").startswith(FORMULA_STARTS)


def csv_lines(rows: Iterable[Sequence[str]]) -> bytes:
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows(rows)
    return lines.getvalue().encode()


def cut_broken_tail(file: io.FileIO) -> None:
    """Remove the unfinished line that a killed writer left. Its page was not reported and is fetched again."""
    size = end = file.seek(0, io.SEEK_END)
    while end > 0:
        start = max(0, end - TAIL_BLOCK_BYTES)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        file.truncate(end)

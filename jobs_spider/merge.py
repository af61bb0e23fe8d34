"""Job files put together into one, each job once: by (source, job_id), the newest find wins.

Streaming: an index in a temporary SQLite file beside the output tells for each job where its newest line stands; then
those lines are copied in the order in which they were met. Memory stays the same however many lines there are.
"""

import csv
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from jobs_spider.output import BOM, CSV_FIELDS, TAG_SEPARATOR, csv_lines, csv_row, looks_like_formula
from jobs_spider.record import JobRecord

CREATE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
CREATE TABLE newest (job BLOB PRIMARY KEY, found INTEGER, file INTEGER, place INTEGER) WITHOUT ROWID;
"""
# Of two lines of the same moment the later one wins: it is what was read last.
KEEP = """
INSERT INTO newest VALUES (?, ?, ?, ?)
ON CONFLICT (job) DO UPDATE SET found = excluded.found, file = excluded.file, place = excluded.place
WHERE excluded.found >= found
"""
IN_ORDER = "SELECT file, place FROM newest ORDER BY file, place"
BATCH_LINES = 5000
LIST_FIELDS = ("tags",)
JSON_FIELDS = ("raw",)


@dataclass
class Merged:
    """What a merge did. `unreadable` names each line that was left out, the first of them by file and line."""

    lines: int = 0
    jobs: int = 0
    unreadable: int = 0
    first_unreadable: str = ""


class CannotMerge(Exception):
    """The files cannot be merged; the text says why."""


@dataclass(frozen=True)
class Source:
    """One input file, at its first record."""

    number: int
    path: Path
    file: BinaryIO
    header: list[str] | None
    # Whether its lines go into the output as they are.
    copied: bool

    def places(
        self, merged: Merged, suffix: str, on_bytes: Callable[[int], object]
    ) -> Iterator[tuple[bytes, int, int, int]]:
        """Key, time, file and place of each record that can be read; the others are counted."""
        place = self.file.tell()
        for line_number, line in enumerate(self.file, start=2 if self.header else 1):
            at, place = place, place + len(line)
            on_bytes(len(line))
            merged.lines += 1
            try:
                # Without its end a line was being written when the writer was killed.
                if not line.endswith(b"\n"):
                    raise ValueError("no line end")
                told = read_line(line, self.header)
                row = _key(told), _found_at(told), self.number, at
                if not self.copied:
                    self.converted(line, suffix)
            except (ValueError, LookupError, TypeError, RecursionError):
                merged.unreadable += 1
                merged.first_unreadable = merged.first_unreadable or f"{self.path} line {line_number}"
            else:
                yield row

    def line_at(self, place: int, suffix: str) -> bytes:
        """The record that stands there, as the output has it."""
        self.file.seek(place)
        line = self.file.readline()
        return line if self.copied else self.converted(line, suffix)

    def converted(self, line: bytes, suffix: str) -> bytes:
        record = JobRecord.model_validate(read_line(line, self.header))
        return csv_lines([csv_row(record)]) if suffix == ".csv" else record.model_dump_json().encode() + b"\n"


def merge(output: Path, inputs: Sequence[Path], on_bytes: Callable[[int], object] = lambda _count: None) -> Merged:
    """Write the newest record of each job in the inputs to the output, which appears only when it is whole.

    Both may be `.jsonl` and `.csv` files of the spiders, also mixed. `on_bytes` hears how much was read meanwhile; each
    input is read twice. Raises CannotMerge, OSError.
    """
    for path in (output, *inputs):
        if path.suffix not in (".jsonl", ".csv"):
            raise CannotMerge(f"{path}: not a .jsonl or .csv file")
    merged = Merged()
    output.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix=".merge-", dir=output.parent)))
        sources = []
        for number, path in enumerate(inputs):
            file = opened.enter_context(path.open("rb"))
            copied = path.suffix == output.suffix == ".jsonl"
            sources.append(Source(number, path, file, _header(path, file), copied))
        index = opened.enter_context(closing(sqlite3.connect(folder / "index.sqlite3", isolation_level=None)))
        index.executescript(CREATE)
        index.execute("BEGIN")
        for source in sources:
            found = source.places(merged, output.suffix, on_bytes)
            while rows := list(islice(found, BATCH_LINES)):
                index.executemany(KEEP, rows)
        new = folder / "new"
        with new.open("wb") as copy:
            if output.suffix == ".csv":
                copy.write(BOM + csv_lines([CSV_FIELDS]))
            for number, place in index.execute(IN_ORDER):
                line = sources[number].line_at(place, output.suffix)
                copy.write(line)
                merged.jobs += 1
                on_bytes(len(line))
            copy.flush()
            os.fsync(copy.fileno())
        new.replace(output)
    return merged


def _header(path: Path, file: BinaryIO) -> list[str] | None:
    """The columns of a CSV file; None for JSON Lines. Leaves the file at its first record."""
    if path.suffix != ".csv":
        return None
    names = next(csv.reader([file.readline().decode("utf-8-sig", errors="replace")]), [])
    if not {"source", "job_id", "fetched_at"} <= set(names):
        raise CannotMerge(f"{path}: its first line does not name the columns source, job_id and fetched_at")
    return names


def read_line(line: bytes, header: list[str] | None) -> dict[str, Any]:
    """A stored line as its fields; raises ValueError, LookupError or TypeError when it is none."""
    if header is None:
        told = json.loads(line)
        return dict(told)
    cells = next(csv.reader([line.decode()]))
    if len(cells) != len(header):
        raise ValueError("another number of cells than columns")
    told = {name: _cell(name, cell) for name, cell in zip(header, cells, strict=True)}
    return {name: value for name, value in told.items() if value is not None}


def _cell(name: str, cell: str) -> Any:
    if name in LIST_FIELDS:
        return list(filter(None, cell.split(TAG_SEPARATOR)))
    if name in JSON_FIELDS:
        return json.loads(cell) if cell else None
    # The quote that made a formula inert is not part of the text.
    text = cell[1:] if cell.startswith("'") and looks_like_formula(cell[1:]) else cell
    field = JobRecord.model_fields.get(name)
    return text if text or (field and field.annotation is str) else None


def _key(told: dict[str, Any]) -> bytes:
    # A few jobs come without an id: then what makes them the same is what the list shows of them.
    shown = (told["job_id"],) if told["job_id"] else tuple(
        told.get(name, "") for name in ("title", "company", "district", "salary_text")
    )  # fmt: skip
    return blake2b(json.dumps([told["source"], len(shown), *shown]).encode(), digest_size=16).digest()


def _found_at(told: dict[str, Any]) -> int:
    """Microseconds since 1970. Raises ValueError for a time without a zone."""
    moment = datetime.fromisoformat(told["fetched_at"])
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return round(moment.timestamp() * 1_000_000)

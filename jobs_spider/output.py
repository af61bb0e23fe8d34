"""Jobs as they are stored: one JSON line a job, one file a source and business day, whole lines only."""

import io
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from filelock import FileLock
from pydantic import AwareDatetime, BaseModel, ConfigDict

LOCK_SECONDS = 30
TAIL_BLOCK_BYTES = 65536


class Job(BaseModel):
    """A job as a board's list shows it. No recruiter's name or picture: persons are not what is collected."""

    model_config = ConfigDict(frozen=True)

    source: str
    job_id: str
    title: str
    company: str
    city: str
    district: str
    salary_text: str
    experience: str
    degree: str
    tags: tuple[str, ...]
    company_size: str
    company_industry: str
    company_stage: str
    url: str

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two entries the same job; a few come without an id."""
        return (self.job_id,) if self.job_id else (self.title, self.company, self.district, self.salary_text)


class JobRecord(Job):
    """A stored job: what the list showed, and the keyword, page and time that it was found by."""

    keyword: str
    keyword_city: str
    page: int
    fetched_at: AwareDatetime


class JobFiles:
    """The output folder. Several spiders on one machine may share it."""

    def __init__(self, folder: Path, timezone: ZoneInfo) -> None:
        self._folder = folder
        self._timezone = timezone

    def path(self, source: str, moment: datetime) -> Path:
        return self._folder / f"{source}-{moment.astimezone(self._timezone).date().isoformat()}.jsonl"

    def append(self, records: Sequence[JobRecord]) -> None:
        """Store one page's records; when this returns they are on the disk, and the page may be reported."""
        lines = "".join(record.model_dump_json() + "\n" for record in records).encode()
        path = self.path(records[0].source, records[0].fetched_at)
        self._folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder / f".{records[0].source}.lock", timeout=LOCK_SECONDS), path.open("a+b") as file:
            cut_broken_tail(file)
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def cut_broken_tail(file: io.BufferedRandom) -> None:
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

"""The job files: whole lines, whatever happens to a writer."""

import json
import multiprocessing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from jobs_spider.output import TAIL_BLOCK_BYTES, JobFiles, JobRecord

EVENING = datetime(2026, 3, 1, 18, 0, tzinfo=UTC)
WRITERS, PAGES, JOBS = 4, 10, 15


def record(job_id: str = "a", title: str = "Python开发😀", fetched_at: datetime = EVENING) -> JobRecord:
    return JobRecord(
        source="boss",
        job_id=job_id,
        title=title,
        company="",
        city="上海",
        district="",
        salary_text="",
        experience="",
        degree="",
        tags=(),
        company_size="",
        company_industry="",
        company_stage="",
        url="",
        keyword="C++",
        keyword_city="上海",
        page=1,
        fetched_at=fetched_at,
    )


def files(folder: Path) -> JobFiles:
    return JobFiles(folder / "jobs", ZoneInfo("Asia/Shanghai"))


def ids(path: Path) -> list[str]:
    return [json.loads(line)["job_id"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_file_is_named_after_source_and_business_day(tmp_path: Path) -> None:
    files(tmp_path).append([record()])
    assert (tmp_path / "jobs" / "boss-2026-03-02.jsonl").is_file()


def test_text_is_stored_readable_in_utf_8(tmp_path: Path) -> None:
    files(tmp_path).append([record()])
    assert "Python开发😀".encode() in files(tmp_path).path("boss", EVENING).read_bytes()


def test_a_stored_line_reads_back_as_the_same_record(tmp_path: Path) -> None:
    files(tmp_path).append([record()])
    assert JobRecord.model_validate_json(files(tmp_path).path("boss", EVENING).read_bytes()) == record()


def test_a_line_break_in_a_title_stays_within_its_line(tmp_path: Path) -> None:
    files(tmp_path).append([record(title="a\nb\r\nc"), record("b")])
    assert ids(files(tmp_path).path("boss", EVENING)) == ["a", "b"]


@pytest.mark.parametrize("tail_bytes", [1, 10, TAIL_BLOCK_BYTES, 2 * TAIL_BLOCK_BYTES + 5])
@pytest.mark.parametrize("before", [[], ["a", "b"]])
def test_the_unfinished_line_of_a_killed_writer_is_cut(tmp_path: Path, before: list[str], tail_bytes: int) -> None:
    path = files(tmp_path).path("boss", EVENING)
    path.parent.mkdir()
    lines = "".join(record(job_id).model_dump_json() + "\n" for job_id in before)
    path.write_text(lines + "{" * tail_bytes, encoding="utf-8")
    files(tmp_path).append([record("c")])
    assert ids(path) == [*before, "c"]


def test_a_record_needs_an_aware_time() -> None:
    with pytest.raises(ValidationError, match="fetched_at"):
        record(fetched_at=datetime(2026, 3, 1))


def write_pages(folder: Path, writer: int) -> None:
    for page in range(PAGES):
        files(folder).append([record(f"{writer}-{page}-{job}", title="长" * 500) for job in range(JOBS)])


def test_several_processes_write_whole_lines_into_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_pages, args=(tmp_path, number)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    written = ids(files(tmp_path).path("boss", EVENING))
    assert len(written) == len(set(written)) == WRITERS * PAGES * JOBS

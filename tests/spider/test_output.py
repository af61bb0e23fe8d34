"""The job files: whole lines, whatever happens to a writer, and cells that no spreadsheet computes."""

import csv
import json
import multiprocessing
import resource
import signal
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from jobs_spider.output import CSV_FIELDS, TAIL_BLOCK_BYTES, Format, JobFiles
from jobs_spider.record import JobRecord
from tests.spider.records import EVENING, record

WRITERS, PAGES, JOBS = 4, 10, 15


def files(folder: Path, format: Format = "jsonl") -> JobFiles:
    return JobFiles(folder / "jobs", ZoneInfo("Asia/Shanghai"), format)


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


def test_a_record_has_its_salary_as_numbers() -> None:
    found = record(salary_text="1.5-2.5万·13薪")
    told = (found.salary_min_month, found.salary_max_month, found.salary_months, found.salary_unit)
    assert told == (15_000, 25_000, 13, "month")


def test_the_boards_own_entry_is_kept_unless_the_operator_says_no() -> None:
    assert record(raw={"a": 1}).raw == {"a": 1}
    assert record(raw={"a": 1}, keep_raw=False).raw is None


def sheet(path: Path) -> list[dict[str, str]]:
    """The file as a spreadsheet reads it."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_csv_file_has_the_mark_once_one_heading_and_every_field(tmp_path: Path) -> None:
    for job_id in ("a", "b"):
        files(tmp_path, "csv").append([record(job_id, tags=["Go", "五险一金"], raw={"x": "是"}, salary_text="1-2万")])
    path = tmp_path / "jobs" / "boss-2026-03-02.csv"
    assert path.read_bytes().count("\ufeff".encode()) == 1
    rows = sheet(path)
    assert [row["job_id"] for row in rows] == ["a", "b"]
    assert tuple(rows[0]) == CSV_FIELDS
    assert (rows[0]["tags"], rows[0]["salary_min_month"], json.loads(rows[0]["raw"])) == (
        "Go; 五险一金",
        "10000",
        {"x": "是"},
    )
    assert rows[0]["published_at"] == ""


@pytest.mark.parametrize(
    "title", ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "\r=1", "\n=1", "-=\"'"]
)
def test_no_cell_is_a_formula_and_none_breaks_its_line(tmp_path: Path, title: str) -> None:
    files(tmp_path, "csv").append([record(title=title), record("b")])
    path = files(tmp_path, "csv").path("boss", EVENING)
    first, second = sheet(path)
    assert first["title"].startswith("'")
    assert second["job_id"] == "b"
    assert path.read_bytes().count(b"\n") == 3


def test_a_title_with_breaks_commas_and_quotes_stays_one_cell(tmp_path: Path) -> None:
    files(tmp_path, "csv").append([record(title='a,"b"\r\nc\u2028d')])
    assert sheet(files(tmp_path, "csv").path("boss", EVENING))[0]["title"] == 'a,"b" c d'


def test_the_half_line_of_a_killed_writer_is_cut_from_a_csv_file_too(tmp_path: Path) -> None:
    files(tmp_path, "csv").append([record("a")])
    path = files(tmp_path, "csv").path("boss", EVENING)
    with path.open("ab") as file:
        file.write(b'boss,b,"Java, ')
    files(tmp_path, "csv").append([record("c")])
    assert [row["job_id"] for row in sheet(path)] == ["a", "c"]


def test_a_new_business_day_is_a_new_file(tmp_path: Path) -> None:
    files(tmp_path).append([record("a")])
    files(tmp_path).append([record("b", fetched_at=EVENING + timedelta(days=1))])
    assert sorted(path.name for path in (tmp_path / "jobs").glob("*.jsonl")) == [
        "boss-2026-03-02.jsonl",
        "boss-2026-03-03.jsonl",
    ]


def write_until_full(folder: Path) -> None:
    """In a process whose files may not grow beyond 64 KiB, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
    for page in range(100):
        files(folder).append([record(f"{page}-{job}", title="长" * 300) for job in range(JOBS)])


def test_a_full_disk_leaves_whole_pages_and_raises(tmp_path: Path) -> None:
    writer = multiprocessing.get_context("spawn").Process(target=write_until_full, args=(tmp_path,))
    writer.start()
    writer.join()
    assert writer.exitcode == 1
    written = ids(files(tmp_path).path("boss", EVENING))
    assert written
    assert len(written) % JOBS == 0

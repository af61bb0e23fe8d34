"""Job files put together: each job once, the newest find wins, whatever the files hold."""

import csv
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs_spider.merge import CannotMerge, Merged, merge
from jobs_spider.output import BOM, CSV_FIELDS, csv_lines, csv_row
from jobs_spider.record import JobRecord
from tests.service_process import ROOT
from tests.spider.records import EVENING, record

LATER = EVENING + timedelta(hours=1)


def lines(*records: JobRecord) -> bytes:
    return b"".join(one.model_dump_json().encode() + b"\n" for one in records)


def sheet(*records: JobRecord) -> bytes:
    return BOM + csv_lines([CSV_FIELDS, *map(csv_row, records)])


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def told(path: Path) -> list[tuple[str, str]]:
    return [(one["job_id"], one["title"]) for one in read(path)]


def test_of_two_finds_the_newer_stays_whatever_the_order_of_the_files(tmp_path: Path) -> None:
    old = put(tmp_path, "a.jsonl", lines(record("1", title="old"), record("2", title="only")))
    new = put(tmp_path, "b.jsonl", lines(record("1", LATER, title="new")))
    for inputs in ([old, new], [new, old]):
        merged = merge(tmp_path / "all.jsonl", inputs)
        assert merged == Merged(lines=3, jobs=2)
        assert sorted(told(tmp_path / "all.jsonl")) == [("1", "new"), ("2", "only")]


def test_times_of_other_zones_are_compared_as_moments(tmp_path: Path) -> None:
    earlier = (
        record("1", title="earlier").model_dump_json().replace("2026-03-01T18:00:00Z", "2026-03-02T01:59:00+08:00")
    )
    files = put(tmp_path, "a.jsonl", lines(record("1", title="later")) + earlier.encode() + b"\n")
    merge(tmp_path / "all.jsonl", [files])
    assert told(tmp_path / "all.jsonl") == [("1", "later")]


def test_the_same_id_at_another_board_is_another_job(tmp_path: Path) -> None:
    files = put(tmp_path, "a.jsonl", lines(record("1"), record("1", source="qcwy")))
    assert merge(tmp_path / "all.jsonl", [files]).jobs == 2


def test_jobs_without_an_id_are_told_apart_by_what_is_shown_of_them(tmp_path: Path) -> None:
    files = put(tmp_path, "a.jsonl", lines(record("", title="a"), record("", title="b"), record("", LATER, title="a")))
    assert merge(tmp_path / "all.jsonl", [files]).jobs == 2


@pytest.mark.parametrize(
    "broken",
    [
        b'{"source": "boss"}\n', b"[1]\n", b"\n", b"null\n", b"\xff\n", b'{"source": "boss", "job_id": "x", "fet',
        b'{"source": "boss", "job_id": "x", "fetched_at": "2026-03-01T18:00:00"}\n',
        b'{"source": "boss", "job_id": "x", "fetched_at": 7}\n', b"[" * 100_000 + b"\n",
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_left_out_and_named(tmp_path: Path, broken: bytes) -> None:
    files = put(tmp_path, "a.jsonl", lines(record("1")) + broken)
    merged = merge(tmp_path / "all.jsonl", [files])
    assert (merged.jobs, merged.unreadable, merged.first_unreadable) == (1, 1, f"{files} line 2")


def test_lines_of_an_earlier_version_are_copied_byte_for_byte(tmp_path: Path) -> None:
    line = '{"source":"boss","job_id":"1","title":"旧","fetched_at":"2026-03-01T18:00:00Z","extra":1}\n'.encode()
    merge(tmp_path / "all.jsonl", [put(tmp_path, "a.jsonl", line)])
    assert (tmp_path / "all.jsonl").read_bytes() == line


def test_json_lines_to_csv_and_back_is_the_same_record(tmp_path: Path) -> None:
    original = record(
        "1", title="=1+1", tags=["Go", "五险一金"], raw={"a": [1]}, salary_text="1-2万", published_at=LATER
    )
    merge(tmp_path / "all.csv", [put(tmp_path, "a.jsonl", lines(original))])
    with (tmp_path / "all.csv").open(encoding="utf-8-sig", newline="") as cells:
        (row,) = csv.DictReader(cells)
    assert row["title"] == "'=1+1"
    merge(tmp_path / "back.jsonl", [tmp_path / "all.csv"])
    assert JobRecord.model_validate(read(tmp_path / "back.jsonl")[0]) == original


def test_csv_and_json_lines_merge_with_each_other(tmp_path: Path) -> None:
    old = put(tmp_path, "a.csv", sheet(record("1", title="old"), record("2")))
    new = put(tmp_path, "b.jsonl", lines(record("1", LATER, title="new")))
    assert merge(tmp_path / "all.csv", [old, new]).jobs == 2
    merge(tmp_path / "all.jsonl", [tmp_path / "all.csv"])
    assert ("1", "new") in told(tmp_path / "all.jsonl")


def test_the_output_may_be_one_of_the_inputs(tmp_path: Path) -> None:
    files = put(tmp_path, "a.jsonl", lines(record("1"), record("1")))
    merge(files, [files])
    assert len(read(files)) == 1


def test_a_file_that_is_no_job_file_stops_it_and_leaves_the_output_alone(tmp_path: Path) -> None:
    out = put(tmp_path, "all.jsonl", b"kept")
    with pytest.raises(CannotMerge, match="columns"):
        merge(out, [put(tmp_path, "a.csv", b"x,y\n1,2\n")])
    with pytest.raises(CannotMerge, match="not a"):
        merge(out, [put(tmp_path, "a.txt", b"")])
    assert out.read_bytes() == b"kept"
    assert list(tmp_path.glob(".merge-*")) == []


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs_spider", "merge", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_the_command_tells_what_it_did(tmp_path: Path) -> None:
    files = put(tmp_path, "a.jsonl", lines(record("1"), record("1")) + b"half")
    done = run(tmp_path / "all.jsonl", files)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'all.jsonl'}: 1 jobs of 3 lines\n")
    assert done.stderr == f"1 lines left out, unreadable: the first is {files} line 3\n"
    refused = run(tmp_path / "all.txt", files)
    assert (refused.returncode, refused.stderr) == (
        1,
        f"not merged: {tmp_path / 'all.txt'}: not a .jsonl or .csv file\n",
    )
    assert run(tmp_path / "all.jsonl", tmp_path / "missing.jsonl").returncode == 2


MEASURED = """
import resource, sys
from pathlib import Path
from jobs_spider.merge import merge
out, file = map(Path, sys.argv[1:])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
merged = merge(out, [file])
print(merged.jobs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    padding = "长" * 1000
    with (tmp_path / "a.jsonl").open("w", encoding="utf-8") as file:
        for number in range(60_000):
            told = {
                "source": "boss",
                "job_id": str(number % 50_000),
                "fetched_at": "2026-03-01T18:00:00Z",
                "x": padding,
            }
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
    size_kib = (tmp_path / "a.jsonl").stat().st_size // 1024
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "all.jsonl"), str(tmp_path / "a.jsonl")]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert int(out[0]) == 50_000
    assert int(out[1]) < size_kib / 4

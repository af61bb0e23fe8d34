"""`docs/job-record.md` as the model describes it: `python -m tests.rules.record_page > docs/job-record.md`."""

import sys
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin

from pydantic import AwareDatetime
from pydantic.fields import FieldInfo

from jobs_spider.record import JobRecord

HEAD = """\
# A job, field by field

What the spiders store: one JSON object a line (`.jsonl`), or one row a job (`.csv`: UTF-8 with BOM, formulas inert,
null as an empty cell, `tags` joined by `; `, `raw` as JSON). The same shape over all boards. Two lines of the same
`source` and `job_id` are the same job: `python -m jobs_spider merge all.jsonl data/jobs/*.jsonl` keeps the newest.

This page is written by `python -m tests.rules.record_page`, from the model in `jobs_spider/record.py`.

| field | type | meaning |
|---|---|---|
"""


def text() -> str:
    return HEAD + "".join(_rows())


def _rows() -> Iterator[str]:
    for name, field in JobRecord.model_fields.items():
        yield f"| `{name}` | {_type(field)} | {field.description} |\n"


def _type(field: FieldInfo) -> str:
    several = get_origin(field.annotation) in (UnionType, Union)
    kinds = get_args(field.annotation) if several else (field.annotation,)
    return " or ".join(_name(kind) for kind in kinds)


def _name(kind: object) -> str:
    names = {
        str: "text",
        int: "number",
        NoneType: "null",
        AwareDatetime: "time with its zone",
        tuple: "list of texts",
        dict: "object",
        Literal: "text",
    }
    return names[get_origin(kind) or kind]


if __name__ == "__main__":
    sys.stdout.write(text())

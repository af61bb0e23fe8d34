"""The sample answers in `samples/`, as the spiders would get them."""

import csv
import json
from pathlib import Path

from jobs_spider.board import Answer

FOLDER = Path(__file__).with_name("samples")
SEARCH = {
    "boss": "https://www.zhipin.com/wapi/zpgeek/search/joblist.json?query=a&salary=403",
    "qcwy": "https://we.51job.com/api/job/search-pc?keyword=a&salary=403",
    "zhilian": "https://fe-api.zhaopin.com/c/i/search/positions",
}


def answer_of(name: str) -> Answer:
    """A saved answer: the body itself, or a wrapper that also holds status, type and perhaps the final address."""
    path = next(path for path in FOLDER.glob(f"{name}.*") if path.suffix in (".json", ".html"))
    body, url = path.read_bytes(), SEARCH[name.partition("_")[0]]
    if path.suffix == ".html":
        return Answer(200, url, body, "text/html")
    saved = json.loads(body)
    if "http_status" in saved:
        wrapped: str = saved["body"]
        return Answer(saved["http_status"], saved.get("final_url", url), wrapped.encode(), saved["content_type"])
    return Answer(200, url, body, "application/json")


def names(source: str) -> set[str]:
    """The samples of one board."""
    return {path.stem for path in FOLDER.glob(f"{source}_*.*")}


def rows(table: str) -> list[dict[str, str]]:
    """The rows of a table of salary texts."""
    with (FOLDER / table).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))

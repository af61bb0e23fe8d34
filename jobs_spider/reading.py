"""What the boards' readers share: from the bytes of an answer to fields that are safe to keep. No network here.

The order of the checks matters (`read_object`): status, redirect, web page, JSON. A check page may come with any status
and a block with HTTP 200, and neither may ever pass for «no jobs».
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.message import Message
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from jobs_spider.board import (
    Answer,
    Blocked,
    CrawlProblem,
    LoginLost,
    Page,
    RateLimited,
    ServerFault,
    ShapeChanged,
    Unreachable,
)
from jobs_spider.record import Job

WAIT = "Wait some hours and go slower; a new login does not help."
CHECK_IN_BROWSER = "Open the board in the browser, pass its check there, copy the cookies anew."
SEEN_CHARACTERS = 100

# The boards' times of day carry no zone.
BOARD_ZONE = ZoneInfo("Asia/Shanghai")
MOMENT_FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")
# Fields of recruiters, and of the session in which the list was asked for.
NOT_KEPT = re.compile(r"(?:hr|boss|staff|recruiter)(?:[A-Z]\w*)?|encryptBossId|securityId|lid|avatar")
CHARSETS = ("utf-8", "gb18030")


@dataclass(frozen=True)
class Gate:
    """How a board says no before it says anything in JSON."""

    # The setting to look at when the address is wrong.
    address_setting: str
    # What to do for a new login.
    log_in: str
    # Parts of a redirect's host and path.
    check_places: tuple[str, ...]
    login_places: tuple[str, ...]
    # What a web page in place of JSON means, by its text.
    web_page: Callable[[str], CrawlProblem]
    block_statuses: frozenset[int] = field(default_factory=lambda: frozenset({403}))


def read_object(answer: Answer, gate: Gate) -> dict[str, Any]:
    """The JSON object in this answer; raises the CrawlProblem that it shows otherwise."""
    _check_status(answer, gate)
    _check_redirect(answer, gate)
    text = _decode(answer)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise gate.web_page(text)
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    # A nesting too deep for the parser is no reason to lose the spider.
    except (ValueError, RecursionError) as error:
        raise ShapeChanged(f"broken JSON ({type(error).__name__}, {len(answer.body)} bytes)") from None
    if not isinstance(content, dict):
        raise ShapeChanged(f"JSON of another kind ({type(content).__name__})")
    return content


def _check_status(answer: Answer, gate: Gate) -> None:
    status = answer.status
    if status == 429:
        raise RateLimited(f"HTTP 429, too fast. {WAIT}")
    if status == 401:
        raise LoginLost(f"HTTP 401. {gate.log_in}")
    # Some addresses answer a blocked client with «not found» and the block as JSON.
    if status in gate.block_statuses or (status == 404 and answer.body.lstrip().startswith(b"{")):
        raise Blocked(f"HTTP {status}. {CHECK_IN_BROWSER}")
    if status == 500:
        raise ServerFault("HTTP 500 again and again for this keyword")
    if status > 500:
        raise Unreachable(f"HTTP {status} from the board's gateway. Wait.")
    if status >= 400:
        raise ShapeChanged(f"HTTP {status} at the search address. Check {gate.address_setting}.")


def _check_redirect(answer: Answer, gate: Gate) -> None:
    # Only host and path count: the salary filter 403 in a query was once taken for HTTP 403.
    parts = urlsplit(answer.url)
    where = f"{parts.hostname or ''}{parts.path}"
    if any(place in where for place in gate.check_places):
        raise Blocked(f"sent to the check page {where}. {CHECK_IN_BROWSER}")
    if any(place in where for place in gate.login_places):
        raise LoginLost(f"sent to the login page {where}. {gate.log_in}")
    if answer.status >= 300:
        raise ShapeChanged(f"HTTP {answer.status}, sent to {where}. Check {gate.address_setting}.")


def _decode(answer: Answer) -> str:
    """The text of the body. UTF-8 first, whatever the label says: a body labelled GBK has been seen to be UTF-8."""
    header = Message()
    header["Content-Type"] = answer.content_type
    for charset in (*CHARSETS, header.get_content_charset() or ""):
        try:
            return answer.body.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    raise ShapeChanged(f"broken JSON (no text, {len(answer.body)} bytes)")


@dataclass(frozen=True)
class Entries:
    """The jobs of a list, and the places (from 1) of the entries that could not be read."""

    jobs: list[Job]
    bad: tuple[int, ...]


def read_entries(entries: Sequence[object], read_job: Callable[[dict[str, Any]], Job | None]) -> Entries:
    """Read each entry by itself: one bad entry never loses the page. Raises ShapeChanged when none can be read."""
    jobs: list[Job] = []
    bad: list[int] = []
    for place, entry in enumerate(entries, start=1):
        job = read_job(entry) if isinstance(entry, dict) else None
        if job:
            jobs.append(job)
        else:
            bad.append(place)
    if entries and not jobs:
        raise ShapeChanged(f"none of the {len(entries)} entries could be read")
    return Entries(jobs, tuple(bad))


def counted_page(read: Entries, size: int, page: int, page_size: int, total: int | None, most_pages: int) -> Page:
    """A page of a board that counts its hits; `size` is how many entries the page really has.

    A page of another size than its place in the count gives it tells that the board's pages are not of the size asked
    for. Their size is then taken from the jobs alone: what else stands in the list may not be counted as hits. Doubts
    cost one more request, for a page past the end; too early an end would cost jobs.
    """
    if total is None:
        return Page(read.jobs, read.bad, has_more=size > 0, total_pages=None)
    due = max(0, min(page_size, total - (page - 1) * page_size))
    real_size = page_size if min(size, page_size) == due else max(1, min(len(read.jobs), page_size))
    total_pages = min(most_pages, math.ceil(total / real_size))
    return Page(read.jobs, read.bad, has_more=page < total_pages, total_pages=total_pages)


def nothing_here(page: int, page_size: int, total: int | None) -> Page:
    """An empty page: no hits at all, or past the last one. Raises Blocked when hits are counted and should be here."""
    if total and (page - 1) * page_size < total:
        raise Blocked(
            f"an empty page {page} although {total} hits are counted: a silent limit. {WAIT} {CHECK_IN_BROWSER}"
        )
    return Page([], (), has_more=False, total_pages=None)


def whole_number(value: object) -> int | None:
    """A count that may come as a text; None when it is none."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:18])
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text(entry: dict[str, Any], *names: str) -> str:
    """The first of these fields that holds anything, as text. Any field may be missing, null or a number."""
    for name in names:
        value = entry.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and (told := storable(str(value))):
            return told
    return ""


def inner(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    """An object within objects; an empty one when it is missing or something else."""
    for name in names:
        value = entry.get(name)
        entry = value if isinstance(value, dict) else {}
    return entry


def texts(*lists: object, keys: Sequence[str] = ()) -> tuple[str, ...]:
    """The texts of these lists, each once; an object in a list gives the first of `keys` that it has."""
    found = (
        text(item, *keys) if isinstance(item, dict) else storable(item) if isinstance(item, str) else ""
        for items in lists
        if isinstance(items, list)
        for item in items
    )
    return tuple(dict.fromkeys(filter(None, found)))


def joined(*parts: str) -> str:
    """A district of several parts, each once."""
    return "·".join(dict.fromkeys(filter(None, parts)))


def storable(value: str) -> str:
    # Half of a surrogate pair, from an emoji cut in two, is valid JSON but cannot be written as UTF-8; a NUL byte ends
    # the text in many a program.
    return value.encode(errors="replace").decode().replace("\0", "").strip()


def moment(value: str) -> datetime | None:
    """A time as the boards write it, with its zone; None when it cannot be told."""
    for pattern in MOMENT_FORMATS:
        try:
            return datetime.strptime(value, pattern).replace(tzinfo=BOARD_ZONE)
        except ValueError:
            continue
    return None


def plain_url(address: str) -> str:
    """The address with its scheme and without its query, in which a session may stand; empty for anything else."""
    try:
        parts = urlsplit(f"https:{address}" if address.startswith("//") else address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def raw_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """The board's entry as it is kept: without fields of persons and sessions, addresses without their queries."""
    return {storable(name): _raw(value) for name, value in entry.items() if not NOT_KEPT.fullmatch(name)}


def _raw(value: object) -> Any:
    if isinstance(value, dict):
        return raw_entry(value)
    if isinstance(value, list):
        return [_raw(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        # Python reads NaN, JSON has none.
        return None
    if isinstance(value, str):
        kept = storable(value)
        is_address = kept.startswith(("http://", "https://", "//")) and len(kept.split()) == 1
        return plain_url(kept) or kept if is_address else kept
    return value

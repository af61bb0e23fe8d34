"""What is missing before a spider can work: one line a finding, with what to do. No board is asked anything."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import requests
import typer

from jobs_spider.board import UnknownCity
from jobs_spider.cities import TABLE, CityTable
from jobs_spider.client import API_PATH
from jobs_spider.cookies import Cookie, is_readable_by_others
from jobs_spider.kinds import START_FILES, BoardKind, kind_of
from jobs_spider.settings import BoardSettings, SpiderSettings, WrongSetting

Level = Literal["ok", "warn", "fail"]

# The Date header has whole seconds, and the answer was under way for a while.
SKEW_WARN_SECONDS = 5.0
SKEW_FAIL_SECONDS = 300.0
SPACE_WARN_BYTES = 1_000_000_000
SPACE_FAIL_BYTES = 50_000_000
MOST_LISTS = 200
MOST_CITIES_SHOWN = 10

Now = Callable[[], datetime]


@dataclass(frozen=True)
class Finding:
    level: Level
    subject: str
    told: str

    def __str__(self) -> str:
        return f"{self.level:<4} {self.subject}: {self.told}"


def examine(source: str | None, base_url: str | None = None) -> int:
    """Print the findings for one board, or for all that are there. The exit code: 1 when one of them is a failure."""
    failed = False
    for finding in findings(source, base_url, lambda: datetime.now(UTC)):
        typer.echo(str(finding))
        failed = failed or finding.level == "fail"
    return int(failed)


def findings(source: str | None, base_url: str | None, now: Now) -> Iterator[Finding]:
    try:
        settings = SpiderSettings.load(**({"base_url": base_url} if base_url else {}))
    except WrongSetting as wrong:
        yield Finding("fail", "settings", str(wrong))
        return
    yield Finding("ok", "settings", "could be read")
    yield from service(settings, now)
    yield from folder(settings)
    for name in [source] if source else START_FILES:
        yield from board(kind_of(name), settings, now())


def service(settings: SpiderSettings, now: Now) -> Iterator[Finding]:
    root = str(settings.base_url).rstrip("/")
    timeout = (settings.connect_timeout_seconds, settings.read_timeout_seconds)
    try:
        alive = requests.get(f"{root}/livez", timeout=timeout, allow_redirects=False)
        asked_at = now()
        ready = requests.get(f"{root}/readyz", timeout=timeout, allow_redirects=False)
    except requests.RequestException as error:
        told = f"no answer from {root} ({type(error).__name__}): start it, or correct SPIDER_BASE_URL"
        yield Finding("fail", "service", told)
        return
    if alive.status_code != 200:
        told = f"{root} answers HTTP {alive.status_code} at /livez: is SPIDER_BASE_URL the service's address?"
        yield Finding("fail", "service", told)
        return
    yield Finding("ok", "service", f"answers at {root}")
    if ready.status_code == 200:
        yield Finding("ok", "database", "is ready")
    else:
        yield Finding("fail", "database", f"HTTP {ready.status_code} at /readyz: look at the service's log")
    yield clock(ready.headers.get("Date", ""), asked_at)


def clock(date_header: str, now: datetime) -> Finding:
    try:
        skew = abs((parsedate_to_datetime(date_header) - now).total_seconds())
    except (ValueError, TypeError):
        return Finding("warn", "clock", "the service names no time to compare with")
    level: Level = "fail" if skew > SKEW_FAIL_SECONDS else "warn" if skew > SKEW_WARN_SECONDS else "ok"
    advice = "" if level == "ok" else ": let both machines keep time (NTP)"
    return Finding(level, "clock", f"{skew:.0f} s from the service's{advice}")


def folder(settings: SpiderSettings) -> Iterator[Finding]:
    for place in (settings.output_dir, settings.state_dir):
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=place):
                pass
        except OSError as error:
            told = f"cannot be written ({error.strerror}): correct its rights or SPIDER_OUTPUT_DIR"
            yield Finding("fail", f"folder {place}", told)
            return
        yield Finding("ok", f"folder {place}", "can be written")
    yield space(shutil.disk_usage(settings.output_dir).free)


def space(free: int) -> Finding:
    level: Level = "fail" if free < SPACE_FAIL_BYTES else "warn" if free < SPACE_WARN_BYTES else "ok"
    return Finding(level, "disk", f"{free / 1e9:.1f} GB are free{'' if level == 'ok' else ': make room'}")


def board(kind: BoardKind[Any], spider: SpiderSettings, now: datetime) -> Iterator[Finding]:
    yield cities(kind.source, spider)
    try:
        settings: BoardSettings = kind.settings.load()
        found = settings.cookies(kind.cookie_domain)
    except WrongSetting as wrong:
        yield Finding("fail", f"{kind.source} settings", str(wrong))
        return
    if settings.fetch == "browser":
        yield Finding("ok", f"{kind.source} login", "is the browser's own; look into its window")
        return
    yield cookies(kind.source, found, now)
    if settings.cookie_file and is_readable_by_others(settings.cookie_file):
        told = f"other users of this machine can read it: chmod 600 {settings.cookie_file}"
        yield Finding("warn", f"{kind.source} cookie file", told)


def cities(source: str, spider: SpiderSettings) -> Finding:
    """Whether the city of each keyword of the service has a code."""
    subject = f"{source} cities"
    try:
        table = CityTable(source)
    except (OSError, ValueError, LookupError) as error:
        return Finding("fail", subject, f"{TABLE} cannot be read ({type(error).__name__})")
    try:
        named = keyword_cities(source, spider)
    except (requests.RequestException, ValueError, LookupError, TypeError):
        return Finding("warn", subject, f"{TABLE.name} can be read; the service's keywords could not")
    unknown = sorted(city for city in named if not _has_code(table, city))
    if unknown:
        shown = ", ".join(unknown[:MOST_CITIES_SHOWN]) + (" …" if len(unknown) > MOST_CITIES_SHOWN else "")
        told = f"{len(unknown)} have no code in {TABLE.name}: {shown}. Their keywords will fail; correct them"
        return Finding("fail", subject, told)
    return Finding("ok", subject, f"all {len(named)} of the service's keywords are in {TABLE.name}")


def _has_code(table: CityTable, city: str) -> bool:
    try:
        table.code(city)
    except UnknownCity:
        return False
    return True


def keyword_cities(source: str, spider: SpiderSettings) -> set[str]:
    """The cities of the service's keywords; of the first 100,000, should there be more."""
    named: set[str] = set()
    query = {"source": source, "limit": "500"}
    with requests.Session() as session:
        for _ in range(MOST_LISTS):
            answer = session.get(
                str(spider.base_url).rstrip("/") + API_PATH,
                params=query,
                timeout=(spider.connect_timeout_seconds, spider.read_timeout_seconds),
                allow_redirects=False,
            )
            listed = answer.json()["data"]
            named |= {str(item["city"]) for item in listed["items"]}
            if not listed["next_cursor"]:
                break
            query["cursor"] = listed["next_cursor"]
    return named


def cookies(source: str, found: list[Cookie], now: datetime) -> Finding:
    subject, name = f"{source} cookies", source.upper()
    if not found:
        return Finding(
            "warn", subject, f"none are given ({name}_COOKIE_FILE): the board may show little without a login"
        )
    expired = sorted(cookie.name for cookie in found if cookie.expires and cookie.expires <= now.timestamp())
    advice = "log in with the browser and export them again"
    if len(expired) == len(found):
        return Finding("fail", subject, f"all have expired: {advice}")
    if expired:
        return Finding("warn", subject, f"expired: {', '.join(expired)}. If the board asks for a login, {advice}")
    return Finding("ok", subject, f"{len(found)} are there, none has expired")

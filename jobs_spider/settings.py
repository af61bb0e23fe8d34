"""Everything an operator can set, from the environment and `.env`. A wrong value stops the start with one line.

`SpiderSettings` are the spider's own (SPIDER_…); `BoardSettings` are those that every board has (BOSS_…), each
board giving its own defaults.
"""

import json
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from jobs_spider.board import Answer, Page
from jobs_spider.cookies import BadCookies, Cookie, is_header_text, read_cookie_file, read_header_line
from jobs_spider.night import checked_hours

# An honest name: it tells the board who is asking. An operator may give the headers of the browser they use.
USER_AGENT = "jobdata-spider/0.1"


class WrongSetting(Exception):
    """A setting that the spider cannot start with; the text is one line that names it."""


class Settings(BaseSettings):
    """What both kinds share: where settings come from, and how a wrong one is told."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore")

    @classmethod
    def load(cls, **given: Any) -> Self:
        """Read the settings; `given` are those of the command line, which win."""
        try:
            return cls(**given)
        except ValidationError as error:
            raise WrongSetting("; ".join(cls._told(item["loc"], item["msg"]) for item in error.errors())) from None
        except UnicodeDecodeError:
            raise WrongSetting(".env: is not UTF-8 text") from None

    @classmethod
    def _told(cls, place: tuple[int | str, ...], message: str) -> str:
        # The value itself is left out: it may be a cookie.
        name = str(place[0])
        prefix = cls.model_config.get("env_prefix", "")
        return f"{name if name.isupper() else (prefix + name).upper()}: {message.removeprefix('Value error, ')}"


def known_timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise ValueError("is not the name of a time zone such as Asia/Shanghai") from error
    return name


def read_json_text(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


class SpiderSettings(Settings):
    """The spider's own settings."""

    model_config = SettingsConfigDict(env_prefix="SPIDER_")

    id: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.:@-]{1,64}$",
        description="A stable name of this one spider process: after a restart it frees at once what its earlier life "
        "held. Never give two running processes the same one: each start would take the other's keyword away. "
        "With --workers N the workers add -1 to -N to it. Empty: host, process number and a random part.",
    )
    base_url: AnyHttpUrl = Field(AnyHttpUrl("http://127.0.0.1:8000"), description="Address of the service.")
    output_dir: Path = Field(
        Path("data/jobs"),
        description="Folder of the job files. What a machine's spiders share goes into `spider` beside it.",
    )
    output_format: Literal["jsonl", "csv"] = Field(
        "jsonl", description="Job files as JSON Lines, or as CSV that Excel opens (UTF-8 with BOM, formulas inert)."
    )
    keep_raw: bool = Field(
        True, description="Keep the board's own entry beside each job, without fields of persons and sessions."
    )
    timezone: Annotated[str, AfterValidator(known_timezone)] = Field(
        "Asia/Shanghai",
        validation_alias="TIMEZONE",
        description="Time zone of the business day and of the night hours; the same as the service's.",
    )
    pause_min_seconds: float = Field(3.0, ge=0, le=600, description="Shortest pause between two pages, in seconds.")
    pause_max_seconds: float = Field(8.0, ge=0, le=600, description="Longest pause between two pages, in seconds.")
    slower_after_pages: int = Field(
        65,
        ge=0,
        description="Pages without half an hour's rest after which pauses get longer, again at twice as many; 0: none.",
    )
    slower_factor: float = Field(1.6, ge=1, le=10, description="How many times longer the pauses get each time.")
    night_hours: Annotated[str, AfterValidator(checked_hours)] = Field(
        "", description="Hours in TIMEZONE in which nothing is asked, such as 01:00-06:00 or 23:30-06:00. Empty: none."
    )
    empty_first_pages: int = Field(
        3,
        ge=0,
        description="So many keywords in a row without any job are taken for a block; 0: each is believed.",
    )
    trouble_pause_seconds: float = Field(
        600.0,
        ge=0,
        le=86400,
        description="Pause after a block, a lost login or an unreachable board, in seconds; doubles in a row.",
    )
    trouble_pause_max_seconds: float = Field(21600.0, ge=0, le=86400, description="The longest such pause, in seconds.")
    heartbeat_seconds: float = Field(
        300.0, gt=0, le=900, description="How often a claim is renewed while a page takes long, in seconds."
    )
    connect_timeout_seconds: float = Field(5.0, gt=0, le=60, description="Wait for a connection, in seconds.")
    read_timeout_seconds: float = Field(20.0, gt=0, le=120, description="Wait for an answer's next bytes, in seconds.")
    service_retries: int = Field(4, ge=0, le=10, description="Times a call to the service is repeated at once.")
    service_backoff_seconds: float = Field(
        0.5, ge=0, le=10, description="First wait between such repeats, in seconds; doubles, at most 30."
    )
    delivery_patience_seconds: float = Field(
        1500.0,
        ge=0,
        le=86400,
        description="How long a finished keyword's reports are tried again while the service is away, in seconds; "
        "less than the lease of 30 minutes. With --once and --max-keywords also how long a claim is tried.",
    )
    board_retries: int = Field(3, ge=0, le=10, description="Times a page is asked for again after a network error.")
    board_backoff_seconds: float = Field(
        5.0, ge=0, le=60, description="First wait between such tries, in seconds; doubles, at most 120."
    )
    idle_wait_seconds: float = Field(
        60.0, gt=0, le=3600, description="Wait when there is nothing to do and the service names no time, in seconds."
    )
    idle_wait_max_seconds: float = Field(
        300.0, gt=0, le=3600, description="Longest wait that the service may ask for, in seconds."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level that is logged.")

    @property
    def state_dir(self) -> Path:
        """What was asked of the boards, and what the service has yet to hear."""
        return self.output_dir.parent / "spider"

    @field_validator("pause_max_seconds")
    @classmethod
    def _not_below_the_shortest(cls, longest: float, info: ValidationInfo) -> float:
        if longest < info.data.get("pause_min_seconds", 0.0):
            raise ValueError("must not be less than SPIDER_PAUSE_MIN_SECONDS")
        return longest


class BoardSettings(Settings):
    """What can be set for each board; a board's own class gives the defaults and the prefix."""

    # What the board keeps back from somebody without a login; empty when it gives everything.
    without_login: ClassVar[str] = ""

    fetch: Literal["requests", "browser"] = Field(
        "requests",
        description="How pages are fetched: by requests with the cookies below, or from the search page in a browser "
        "in which a person has logged in (needs the extra `browser`; the cookies below are then not used).",
    )
    cookie: SecretStr | None = Field(None, description="Cookies of a logged-in browser, as its Cookie header line.")
    cookie_file: Path | None = Field(
        None,
        description="File with that line, or with a browser extension's export (a JSON list, or cookies.txt); instead "
        "of the above.",
    )
    user_agent: str = Field(USER_AGENT, min_length=1, description="User-Agent header.")
    # NoDecode: decoded here, so that a wrong one is told like every other setting.
    headers: Annotated[dict[str, str], NoDecode, BeforeValidator(read_json_text)] = Field(
        default_factory=dict, description="More headers, as a JSON object of texts; these win."
    )
    search_url: AnyHttpUrl = Field(description="Address of the board's search.")
    search_page_url: AnyHttpUrl = Field(description="Address of the board's search page, for the browser way.")
    page_size: int = Field(ge=1, le=100, description="Jobs to ask for on a page.")
    page_limit: int = Field(ge=1, description="Pages to crawl of a keyword.")
    requests_per_minute: int = Field(
        12, ge=1, le=6000, description="Most requests a minute to this board, of all its spiders on the machine."
    )
    pages_per_day: int = Field(
        0, ge=0, description="Most pages a day to ask this board for, of all its spiders on the machine; 0: any number."
    )

    @field_validator("user_agent")
    @classmethod
    def _sendable(cls, value: str) -> str:
        if not is_header_text(value):
            raise ValueError("holds characters that cannot be sent in a header")
        return value

    @field_validator("headers")
    @classmethod
    def _all_sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        if not all(name and is_header_text(name + value) for name, value in headers.items()):
            raise ValueError("holds a header that cannot be sent")
        return headers

    def read(self, answer: Answer, page: int) -> Page:
        """The result page in an answer of the search, whichever way it came; raises a CrawlProblem."""
        raise NotImplementedError

    def read_cookies(self, domain: str) -> dict[str, str]:
        """The operator's cookies by name; empty when none are given."""
        return {cookie.name: cookie.value for cookie in self.cookies(domain)}

    def cookies(self, domain: str) -> list[Cookie]:
        """The same, with the times at which they expire."""
        name = "cookie" if self.cookie else "cookie_file"
        try:
            if self.cookie and self.cookie_file:
                raise BadCookies("give this or the cookie file, not both")
            if self.cookie:
                return read_header_line(self.cookie.get_secret_value())
            return read_cookie_file(self.cookie_file, domain) if self.cookie_file else []
        except BadCookies as error:
            raise WrongSetting(self._told((name,), str(error))) from None


class BrowserSettings(Settings):
    """The browser that pages are fetched from where a board's way to fetch is `browser`."""

    model_config = SettingsConfigDict(env_prefix="BROWSER_")

    cdp_url: AnyHttpUrl | None = Field(
        None,
        description="Address of a browser that is running already, such as http://127.0.0.1:9222 for one started with "
        "--remote-debugging-port=9222. Several spiders may share it. Empty: one is opened.",
    )
    profile_dir: Path = Field(
        Path("data/browser"),
        description="Profile folder of the browser that is opened, in which a person logs in once. One running spider "
        "each.",
    )
    executable: Path | None = Field(None, description="The browser to open. Empty: the installed Google Chrome.")
    headless: bool = Field(
        False, description="Open it without a window. Nobody can then pass a check or log in: only for trying out."
    )
    arguments: Annotated[list[str], NoDecode, BeforeValidator(read_json_text)] = Field(
        default_factory=list, description="More arguments for the browser that is opened, as a JSON list of texts."
    )
    answer_wait_seconds: float = Field(
        20.0,
        gt=0,
        le=300,
        description="Wait for the page to ask its server for the next jobs and be answered, in seconds.",
    )
    person_wait_seconds: float = Field(
        900.0,
        ge=0,
        le=1500,
        description="Wait for a person to pass a check or to log in, in seconds; then the keyword goes back and the "
        "spider pauses. Less than the lease of 30 minutes.",
    )

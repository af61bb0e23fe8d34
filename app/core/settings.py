"""Settings, read from the environment and from `.env`; `.env.example` lists them all."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.core.errors import StartupError

MYSQL_FORM = (
    "mysql://USER:PASSWORD@HOST:PORT/DATABASE, with @ : / ? # [ ] % in USER and PASSWORD as %40 %3A %2F and so on"
)
MYSQL_NUMBERS = {"connect_timeout", "maxsize", "minsize", "pool_recycle"}
MYSQL_OPTIONS = MYSQL_NUMBERS | {"charset", "sql_mode", "ssl", "unix_socket"}


@dataclass(frozen=True, slots=True)
class CooldownRules:
    """When a source cools down after blocks, and for how long."""

    enabled: bool = True
    window: timedelta = timedelta(minutes=5)
    first: timedelta = timedelta(minutes=1)
    longest: timedelta = timedelta(days=1)
    forgiven: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The numbers of the state machine."""

    lease: timedelta
    max_retries: int
    retry_backoff: timedelta
    outage_grace: timedelta
    shared_read: timedelta
    cooldown: CooldownRules = CooldownRules()


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore")

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65535, description="Port to listen on.")
    workers: int = Field(1, ge=1, le=64, description="Server processes. Use 1 with SQLite.")
    drain_seconds: int = Field(
        0,
        ge=0,
        le=300,
        description="After SIGTERM the service goes on for this long with /readyz at 503, so that a load balancer "
        "sends its next calls elsewhere: more than two of its checks take. 0 without a load balancer (seconds).",
    )
    database_url: SecretStr = Field(
        SecretStr("sqlite://data/jobdata.sqlite3"),
        description="sqlite://PATH (a relative path starts at the working directory) "
        "or mysql://USER:PASSWORD@HOST:PORT/DATABASE for MySQL and MariaDB.",
    )
    database_pool_size: int = Field(16, ge=2, le=200, description="Connections a process holds at most (MySQL).")
    database_wait_seconds: int = Field(
        45, ge=0, le=3600, description="How long a start waits for a database that does not answer (seconds)."
    )
    run_migrations_on_startup: bool = Field(True, description="Bring the tables up to date when the service starts.")
    timezone: str = Field("Asia/Shanghai", description="IANA name of the zone in which a business day begins and ends.")
    lease_seconds: int = Field(
        1800, ge=5, le=86400, description="A claim without a sign of life for this long is stale (seconds)."
    )
    max_retries: int = Field(3, ge=1, le=100, description="Failed claims after which a keyword rests for the day.")
    retry_backoff_seconds: int = Field(
        0, ge=0, le=86400, description="Wait before a failed keyword may be claimed again (seconds)."
    )
    stale_cleanup_seconds: int = Field(
        600, ge=1, le=86400, description="How often stale claims are swept (seconds). Claims do not depend on it."
    )
    sign_of_life_seconds: int = Field(
        30, ge=1, le=86400, description="How often the service notes that it is alive, to recognise outages (seconds)."
    )
    outage_grace_seconds: int = Field(
        300,
        ge=0,
        le=3600,
        description="After the service or its database was away for longer than this, leases that ran out meanwhile "
        "are prolonged by as much, so that living spiders keep their keywords (seconds).",
    )
    source_cooldown: bool = Field(
        True, description="Let a source rest when its board blocks several crawlers within a short time."
    )
    cooldown_window_seconds: int = Field(
        300, ge=1, le=86400, description="Blocks of different crawlers within this time belong together (seconds)."
    )
    cooldown_first_seconds: int = Field(
        60,
        ge=1,
        le=86400,
        description="Length of the first cool-down; each next one in a row is twice as long (seconds).",
    )
    cooldown_max_seconds: int = Field(86400, ge=1, le=604800, description="Length of the longest cool-down (seconds).")
    cooldown_forgiven_seconds: int = Field(
        1800,
        ge=0,
        le=604800,
        description="Time without a block after which the next cool-down is a first one (seconds).",
    )
    empty_retry_after_seconds: int = Field(
        60, ge=1, le=3600, description="Retry-After of an empty answer to a claim (seconds)."
    )
    shared_read_seconds: int = Field(
        2,
        ge=0,
        le=60,
        description="For how long one read of a day's counts, or of whether a source is paused, serves all who ask "
        "(seconds; 0: each reads for itself).",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="DEBUG, INFO, WARNING or ERROR."
    )
    access_log: bool = Field(False, description="Log each request, besides what happens to keywords.")

    @field_validator("timezone")
    @classmethod
    def known_timezone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("no such time zone; give an IANA name such as Asia/Shanghai") from None
        return value

    @field_validator("database_url")
    @classmethod
    def supported_database(cls, value: SecretStr) -> SecretStr:
        # The messages never quote the address, nor does the error that they replace: it holds a password.
        try:
            url = urlsplit(value.get_secret_value())
            readable = url.scheme != "mysql" or url.port != 0
        except ValueError:
            readable = False
        if not readable:
            raise ValueError(f"cannot be read: give {MYSQL_FORM}")
        if url.scheme not in {"sqlite", "mysql"}:
            raise ValueError("must begin with sqlite:// or mysql://")
        if url.scheme == "mysql" and not (url.hostname and url.path.strip("/")):
            raise ValueError(f"must name host and database: {MYSQL_FORM}")
        if url.scheme == "mysql" and not _known_options(parse_qs(url.query, keep_blank_values=True)):
            raise ValueError(
                f"options after ? may be {', '.join(sorted(MYSQL_OPTIONS))}, with numbers where they count"
            )
        if url.scheme == "sqlite" and (url.netloc + url.path) in {"", "/", ":memory:"}:
            raise ValueError("must name a file: sqlite://data/jobdata.sqlite3")
        return value

    @property
    def sqlite_file(self) -> Path | None:
        """The SQLite database's file; None on MySQL."""
        url = urlsplit(self.database_url.get_secret_value())
        return Path(url.netloc + url.path) if url.scheme == "sqlite" else None

    @property
    def database_name(self) -> str:
        """What people call the database: a file, or server and name. Without user and password."""
        if self.sqlite_file:
            return f"{self.sqlite_file}{'' if self.sqlite_file.exists() else ' (new)'}"
        url = urlsplit(self.database_url.get_secret_value())
        return f"{url.path.strip('/')} on {url.hostname}:{url.port or 3306}"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def crawl_rules(self) -> CrawlRules:
        return CrawlRules(
            lease=timedelta(seconds=self.lease_seconds),
            max_retries=self.max_retries,
            retry_backoff=timedelta(seconds=self.retry_backoff_seconds),
            outage_grace=timedelta(seconds=self.outage_grace_seconds),
            shared_read=timedelta(seconds=self.shared_read_seconds),
            cooldown=CooldownRules(
                enabled=self.source_cooldown,
                window=timedelta(seconds=self.cooldown_window_seconds),
                first=timedelta(seconds=self.cooldown_first_seconds),
                longest=timedelta(seconds=self.cooldown_max_seconds),
                forgiven=timedelta(seconds=self.cooldown_forgiven_seconds),
            ),
        )


def _known_options(options: dict[str, list[str]]) -> bool:
    numbers = [value for name in MYSQL_NUMBERS & options.keys() for value in options[name]]
    return options.keys() <= MYSQL_OPTIONS and all(number.isascii() and number.isdigit() for number in numbers)


def load_settings() -> Settings:
    """Settings of this process. Raises StartupError with one line that names each wrong setting."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = (
            f"{str(item['loc'][0]).upper()}: {item['msg'].removeprefix('Value error, ')}" for item in error.errors()
        )
        raise StartupError("wrong setting " + "; ".join(wrong)) from None
    except UnicodeDecodeError:
        raise StartupError("wrong setting in .env: the file is not UTF-8 text") from None

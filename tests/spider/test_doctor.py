"""What `doctor` finds, and what it asks: the service, never a board."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from jobs_spider import cities, doctor
from jobs_spider.__main__ import app
from jobs_spider.doctor import Finding, clock, findings, space

NOW = datetime(2026, 3, 1, 18, 0, tzinfo=UTC)
DATE = "Sun, 01 Mar 2026 18:00:00 GMT"


@contextmanager
def probes(
    alive: int = 200, ready: int = 200, date: str | None = DATE, cities_of_keywords: Sequence[str] = ("上海", "北京市")
) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            body = b""
            if address.path == "/api/v1/keyword":
                # A page of one keyword each, so that the cursor is needed.
                place = int(parse_qs(address.query).get("cursor", ["0"])[0])
                items = [{"city": city} for city in cities_of_keywords[place : place + 1]]
                more = str(place + 1) if place + 1 < len(cities_of_keywords) else None
                body = json.dumps({"data": {"items": items, "next_cursor": more}}).encode()
            self.send_response_only(alive if self.path == "/livez" else ready)
            self.send_header("Date", date or self.date_time_string())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


Examine = Callable[..., dict[str, Finding]]


@pytest.fixture
def examine() -> Iterator[Examine]:
    """The findings for Boss by their subject, with a healthy service unless another address is given."""
    with probes() as healthy:

        def run(base_url: str = healthy, source: str | None = "boss") -> dict[str, Finding]:
            return {finding.subject: finding for finding in findings(source, base_url, lambda: NOW)}

        yield run


def cookie_file(monkeypatch: pytest.MonkeyPatch, folder: Path, *ends: datetime | None) -> Path:
    path = folder / "cookies.json"
    path.write_text(
        json.dumps(
            [
                {"name": f"c{number}", "value": "s3cret", "expirationDate": end and end.timestamp()}
                for number, end in enumerate(ends)
            ]
        ),
        encoding="utf-8",
    )
    path.chmod(0o600)
    monkeypatch.setenv("BOSS_COOKIE_FILE", str(path))
    return path


def test_all_is_well(examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cookie_file(monkeypatch, tmp_path, None, NOW + timedelta(days=1))
    monkeypatch.setattr(doctor, "SPACE_WARN_BYTES", 0)
    monkeypatch.setattr(doctor, "SPACE_FAIL_BYTES", 0)
    found = examine()
    assert {finding.level for finding in found.values()} == {"ok"}
    assert list(found) == [
        "settings", "service", "database", "clock", "folder data/jobs", "folder data/spider", "disk", "boss cities",
        "boss cookies",
    ]  # fmt: skip


def test_a_service_that_is_not_there(examine: Examine) -> None:
    with probes() as gone:
        pass
    found = examine(gone)
    assert str(found["service"]).startswith(f"fail service: no answer from {gone} (ConnectionError): start it")
    assert "clock" not in found


def test_something_else_at_the_address(examine: Examine) -> None:
    with probes(alive=404) as other:
        assert "HTTP 404 at /livez: is SPIDER_BASE_URL" in examine(other)["service"].told


def test_a_service_without_its_database(examine: Examine) -> None:
    with probes(ready=503) as half:
        found = examine(half)
    assert (found["service"].level, found["database"].level) == ("ok", "fail")


@pytest.mark.parametrize(("seconds", "level"), [(4, "ok"), (-30, "warn"), (3600, "fail")])
def test_the_clocks_are_compared(seconds: int, level: str) -> None:
    assert clock(DATE, NOW + timedelta(seconds=seconds)).level == level


@pytest.mark.parametrize("header", ["", "yesterday", "Sun, 01 Mar 2026 18:00:00 -0000"])
def test_a_service_that_names_no_time_is_no_failure(header: str) -> None:
    assert clock(header, NOW) == Finding("warn", "clock", "the service names no time to compare with")


@pytest.mark.parametrize(("free", "level"), [(5e9, "ok"), (5e8, "warn"), (1e6, "fail")])
def test_a_full_disk_is_told(free: float, level: str) -> None:
    assert space(int(free)).level == level


def test_a_folder_that_cannot_be_written(examine: Examine, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder belongs", encoding="utf-8")
    assert examine()["folder data/jobs"].level == "fail"


def test_wrong_settings_are_told_as_at_a_start(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_PAGE_LIMIT", "0")
    assert examine()["boss settings"].told.startswith("BOSS_PAGE_LIMIT: ")
    monkeypatch.setenv("SPIDER_READ_TIMEOUT_SECONDS", "0")
    assert list(examine()) == ["settings"]


def test_no_cookies_are_a_warning(examine: Examine) -> None:
    assert examine()["boss cookies"].level == "warn"


def test_the_browser_way_needs_no_cookies(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_FETCH", "browser")
    found = examine()
    assert found["boss login"].level == "ok"
    assert "boss cookies" not in found


@pytest.mark.parametrize(("ends", "level"), [((-1, -1), "fail"), ((-1, 1), "warn"), ((1, 1), "ok")])
def test_expired_cookies_are_told_by_name(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: tuple[int, ...], level: str
) -> None:
    cookie_file(monkeypatch, tmp_path, *(NOW + timedelta(days=days) for days in ends))
    finding = examine()["boss cookies"]
    assert finding.level == level
    assert ("c0" in finding.told) is (level == "warn")
    assert "s3cret" not in finding.told


def test_unusable_cookies_are_a_failure(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_COOKIE", "s3cret")
    assert examine()["boss settings"].level == "fail"


@pytest.mark.skipif(os.name != "posix", reason="modes tell who may read a file on POSIX only")
def test_a_cookie_file_that_others_can_read(examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cookie_file(monkeypatch, tmp_path, None).chmod(0o644)
    assert "chmod 600" in examine()["boss cookie file"].told


def test_a_city_table_that_cannot_be_read(examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "city_codes.csv").write_text("no\nsuch\n", encoding="utf-8")
    monkeypatch.setattr(cities, "TABLE", tmp_path / "city_codes.csv")
    assert examine()["boss cities"].level == "fail"


def test_a_keyword_whose_city_has_no_code_is_told_before_it_fails() -> None:
    with probes(cities_of_keywords=["上海", "哥谭", "昆山"]) as url:
        (found,) = [finding for finding in findings("boss", url, lambda: NOW) if finding.subject == "boss cities"]
    assert found.level == "fail"
    assert "2 have no code in city_codes.csv: 哥谭, 昆山" in found.told


def test_a_service_that_shows_no_keywords_leaves_the_table_to_itself(examine: Examine) -> None:
    assert examine(base_url="http://127.0.0.1:1")["boss cities"].level == "warn"


@pytest.mark.parametrize(("ready", "code"), [(200, 0), (503, 1)])
def test_the_command_prints_a_line_each_and_fails_when_something_does(ready: int, code: int) -> None:
    with probes(ready=ready, date=None) as url:
        result = CliRunner().invoke(app, ["doctor", "boss", "--base-url", url])
    assert result.exit_code == code
    assert result.output.startswith("ok   settings: could be read\n")


def test_the_command_knows_its_boards() -> None:
    assert CliRunner().invoke(app, ["doctor", "linkedin"]).exit_code == 2

"""The start file as users start it: options, exit codes, signals, kills."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from typer.testing import CliRunner

from jobs_spider.boss.boos_api import app
from jobs_spider.command import STOP_SIGNALS, stop_on_signals
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.workers import new_crawler_id
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn
from tests.stand_in_board import Visit

ROOT = Path(__file__).parents[2]
AS_FILE = ["jobs_spider/boss/boos_api.py"]
AS_MODULE = ["-m", "jobs_spider.boss.boos_api"]
AS_COMMAND = ["-m", "jobs_spider", "boss"]

Process = subprocess.Popen[str]


@pytest.fixture(autouse=True)
def _own_signal_handlers() -> Iterator[None]:
    """A spider started within this process leaves no handler behind."""
    numbers = [getattr(signal, name) for name in STOP_SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, board: StandIn, service: Service, tmp_path: Path) -> None:
    """Environment of a spider that works on the stand-ins without pausing."""
    settings = {
        "SPIDER_BASE_URL": service.url,
        "SPIDER_OUTPUT_DIR": str(tmp_path / "jobs"),
        "SPIDER_PAUSE_MIN_SECONDS": "0",
        "SPIDER_PAUSE_MAX_SECONDS": "0",
        "BOSS_SEARCH_URL": board.search_url("boss"),
        "BOSS_COOKIE": "wt2=s3cret",
        "BOSS_REQUESTS_PER_MINUTE": "6000",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


def start(how: list[str], *options: str) -> Process:
    return subprocess.Popen(
        [sys.executable, *how, *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_line(process: Process, text: str) -> None:
    assert process.stderr
    assert any(text in line for line in process.stderr), f"the spider ended without: {text}"


def signal_at_page(
    monkeypatch: pytest.MonkeyPatch, board: StandIn, page: int, number: signal.Signals
) -> Queue[Process]:
    """Send the signal to the process in this queue while it waits for the page's answer."""
    started: Queue[Process] = Queue()
    admit = board.admit

    def admit_after_the_signal(visit: Visit) -> Fault | None:
        if visit.page == page and page not in board.pages_asked():
            started.get().send_signal(number)
        return admit(visit)

    monkeypatch.setattr(board, "admit", admit_after_the_signal)
    return started


def stored_ids(folder: Path) -> list[str]:
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("jobs/*.jsonl")]
    return [json.loads(line)["job_id"] for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("how", [AS_FILE, AS_MODULE, AS_COMMAND])
@pytest.mark.usefixtures("surroundings")
def test_all_ways_to_start_crawl_a_keyword(service: Service, tmp_path: Path, how: list[str]) -> None:
    keyword = service.add("C++")
    process = start(how, "--once")
    _, log = process.communicate()
    assert (process.returncode, keyword.crawl_status) == (0, "completed")
    assert len(stored_ids(tmp_path)) == 12
    assert "page reported keyword=1 city='上海' job='C++' page=2 jobs=4" in log
    assert "s3cret" not in log
    assert "secret-token" not in log


@pytest.mark.usefixtures("surroundings")
def test_sigterm_finishes_the_page_in_hand_releases_and_leaves_with_0(
    service: Service, board: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyword = service.add()
    started = signal_at_page(monkeypatch, board, 2, signal.SIGTERM)
    process = start(AS_MODULE)
    started.put(process)
    process.communicate()
    assert process.returncode == 0
    assert (keyword.crawl_status, keyword.reason, keyword.last_completed_page) == ("partial", "stopped", 2)
    assert board.pages_asked() == [1, 2]


@pytest.mark.usefixtures("surroundings")
def test_sigint_ends_a_pause_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPIDER_PAUSE_MIN_SECONDS", "600")
    monkeypatch.setenv("SPIDER_PAUSE_MAX_SECONDS", "600")
    keyword = service.add()
    process = start(AS_FILE)
    wait_for_line(process, "page reported")
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert (process.returncode, keyword.reason, keyword.last_completed_page) == (0, "stopped", 1)


@pytest.mark.usefixtures("surroundings")
def test_a_killed_spiders_keyword_goes_on_at_the_next_page(
    service: Service, board: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPIDER_ID", "spider-7")
    keyword = service.add()
    started = signal_at_page(monkeypatch, board, 3, signal.SIGKILL)
    killed = start(AS_MODULE)
    started.put(killed)
    killed.communicate()
    start(AS_MODULE, "--once").communicate()
    assert board.pages_asked() == [1, 2, 3, 3]
    assert (keyword.crawl_status, keyword.jobs_found) == ("completed", 12)
    assert len(stored_ids(tmp_path)) == len(set(stored_ids(tmp_path))) == 12


@pytest.mark.usefixtures("surroundings")
def test_the_options_limit_the_run(service: Service) -> None:
    keywords = [service.add(job) for job in ("Python", "C++", "Go")]
    result = CliRunner().invoke(app, ["--max-keywords", "2", "--base-url", service.url])
    assert result.exit_code == 0
    assert [keyword.crawl_status for keyword in keywords] == ["completed", "completed", "idle"]


@pytest.mark.usefixtures("surroundings")
def test_a_block_with_once_has_its_own_exit_code(service: Service, board: StandIn) -> None:
    service.add()
    board.add_fault(Fault("block_35"))
    assert CliRunner().invoke(app, ["--once"]).exit_code == 4


@pytest.mark.usefixtures("surroundings")
def test_a_refusing_service_has_its_own_exit_code(service: Service) -> None:
    service.script("available", Scripted(status=401))
    assert CliRunner().invoke(app, []).exit_code == 3


@pytest.mark.parametrize(
    ("name", "value", "options"),
    [
        ("SPIDER_READ_TIMEOUT_SECONDS", "soon", []),
        ("BOSS_PAGE_LIMIT", "0", []),
        ("BOSS_COOKIE", "s3cret", []),
        ("SPIDER_BASE_URL", "", ["--base-url", "nowhere"]),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, options: list[str]
) -> None:
    monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 2
    assert re.fullmatch(rf"wrong setting: {name}: [^\n]+\n", result.stderr)
    assert "s3cret" not in result.output


@pytest.mark.usefixtures("surroundings")
def test_the_browser_way_without_its_extra_is_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_FETCH", "browser")
    monkeypatch.delitem(sys.modules, "jobs_spider.browser", raising=False)
    # As if it were not installed.
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert re.fullmatch(r"wrong setting: BOSS_FETCH: [^\n]+ the extra `browser`: [^\n]+\n", result.stderr)


@pytest.mark.parametrize("options", [["--max-keywords", "0"], ["--surprise"]])
def test_a_wrong_option_is_exit_code_2(options: list[str]) -> None:
    assert CliRunner().invoke(app, options).exit_code == 2


def test_help_names_options_and_exit_codes() -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    assert all(word in told for word in ("--once", "--max-keywords", "--base-url", "Exit codes"))


def test_started_as_a_file_it_finds_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    file = ROOT / AS_FILE[0]
    monkeypatch.setattr(sys, "path", [str(file.parent), *sys.path])
    runpy.run_path(str(file))
    assert sys.path[0] == str(ROOT)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_wait(name: str) -> None:
    timekeeper = Timekeeper()
    stop_on_signals(timekeeper)
    os.kill(os.getpid(), getattr(signal, name))
    timekeeper.wait(10**6)
    assert timekeeper.stopping


def test_crawler_ids_differ_and_fit_the_service() -> None:
    ids = {new_crawler_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_.:@-]{1,64}", crawler_id) for crawler_id in ids)


@pytest.mark.usefixtures("surroundings")
def test_several_workers_leave_with_the_stop_signal(
    service: Service, board: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    keywords = [service.add(job) for job in ("Python", "Go")]
    started = signal_at_page(monkeypatch, board, 2, signal.SIGTERM)
    process = start(AS_COMMAND, "--workers", "2")
    # Twice, since both workers may be at their second page at the same moment.
    started.put(process)
    started.put(process)
    _, log = process.communicate()
    assert process.returncode == 0
    assert {keyword.reason for keyword in keywords if keyword.crawl_status == "partial"} == {"stopped"}
    assert re.search(r"INFO \S+ claimed keyword=1 ", log)


@pytest.mark.usefixtures("surroundings")
def test_a_console_that_cannot_show_a_character_is_survived(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "gbk:strict")
    keyword = service.add("Python 😀")
    process = subprocess.Popen([sys.executable, *AS_COMMAND, "--once"], cwd=ROOT, stderr=subprocess.PIPE)
    _, log = process.communicate()
    assert (process.returncode, keyword.crawl_status) == (0, "completed")
    assert "city='上海' job='Python ?'" in log.decode("gbk")
    assert b"Logging error" not in log


@pytest.mark.skipif(os.name != "posix", reason="modes tell who may read a file on POSIX only")
@pytest.mark.usefixtures("surroundings")
def test_a_cookie_file_that_others_can_read_is_told_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("BOSS_COOKIE")
    monkeypatch.setenv("BOSS_COOKIE_FILE", str(tmp_path / "cookies.txt"))
    (tmp_path / "cookies.txt").write_text("wt2=s3cret", encoding="utf-8")
    (tmp_path / "cookies.txt").chmod(0o644)
    assert CliRunner().invoke(app, ["--once", "--workers", "2"]).exit_code == 0
    assert caplog.text.count("other users of this machine can read the cookie file") == 1
    assert "s3cret" not in caplog.text

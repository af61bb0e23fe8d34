"""Each board's spider as a process of its own, with the real service and the stand-in for the board."""

import signal
from collections import Counter
from dataclasses import dataclass

import pytest

from jobs_spider.record import JobRecord
from tests.scene import PATIENCE_SECONDS, Scene
from tests.stand_in import Fault

SOURCES = ["boss", "qcwy", "zhilian"]


@pytest.fixture(params=SOURCES)
def board_scene(request: pytest.FixtureRequest, scene: Scene) -> Scene:
    scene.source = request.param
    return scene


def test_three_keywords_are_crawled_and_each_job_stored_once(board_scene: Scene) -> None:
    jobs = ["Python", "C++", "C# / .NET & 100% ＡＩ 😀"]
    board_scene.add(*jobs)
    assert board_scene.run_spider("--max-keywords", "3") == 0
    assert [board_scene.keyword(job)["status"] for job in jobs] == ["completed"] * 3
    assert [board_scene.keyword(job)["jobs_found"] for job in jobs] == [45] * 3
    assert sorted(board_scene.stored_ids()) == sorted(board_scene.expected_ids(*jobs))
    assert board_scene.board.pages_asked() == [1, 2, 3] * 3
    for told in board_scene.stored():
        record = JobRecord.model_validate(told)
        assert record.salary_min_month
        assert (record.title.startswith(record.keyword), record.keyword_city) == (True, "北京")
    assert "示例" not in str(board_scene.stored())


def test_a_killed_crawl_resumes_at_its_next_page(board_scene: Scene) -> None:
    board_scene.add("Python")
    board_scene.board.add_fault(Fault("slow", page=3, times=1, seconds=30))
    spider = board_scene.start_spider(spider_id="stable")
    board_scene.until(lambda: board_scene.board.pages_asked() == [1, 2, 3])
    spider.kill()
    spider.wait()
    assert board_scene.run_spider("--once", spider_id="stable") == 0
    assert board_scene.board.pages_asked() == [1, 2, 3, 3]
    assert board_scene.keyword("Python")["status"] == "completed"
    assert sorted(board_scene.stored_ids()) == sorted(board_scene.expected_ids("Python"))


def test_a_stopped_crawl_is_free_at_once_and_goes_on_at_its_next_page(board_scene: Scene) -> None:
    board_scene.add("Python")
    spider = board_scene.start_spider(SPIDER_PAUSE_MIN_SECONDS="60", SPIDER_PAUSE_MAX_SECONDS="60")
    board_scene.until(lambda: board_scene.keyword("Python")["last_completed_page"] == 1)
    spider.send_signal(signal.SIGTERM)
    assert spider.wait(timeout=PATIENCE_SECONDS) == 0
    assert board_scene.keyword("Python")["status"] == "partial"
    assert board_scene.run_spider("--once") == 0
    assert board_scene.board.pages_asked() == [1, 2, 3]


def test_an_unknown_city_fails_without_asking_the_board(board_scene: Scene) -> None:
    board_scene.add("Python", city="哥谭")
    board_scene.run_spider("--once")
    keyword = board_scene.keyword("Python")
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 1)
    assert "哥谭" in keyword["error_message"]
    assert "city_codes.csv" in keyword["error_message"]
    assert board_scene.board.pages_asked() == []


@dataclass(frozen=True)
class Trouble:
    """A fault of page 2, and what the service and the shell hear of it."""

    kind: str
    status: str
    message: str
    exit_code: int = 0
    times: int | None = None
    page: int = 1
    jobs: int = 15
    retries: int = 0


def blocked(kind: str, words: str) -> Trouble:
    return Trouble(kind, "partial", f"blocked: page 2: {words}", 4)


def login_lost(kind: str, words: str) -> Trouble:
    return Trouble(kind, "partial", f"login: page 2: {words}", 5)


def failed(kind: str, words: str) -> Trouble:
    return Trouble(kind, "failed", f"page 2: {words}", retries=1)


def done(kind: str, times: int | None = None, message: str = "", page: int = 3, jobs: int = 45) -> Trouble:
    return Trouble(kind, "completed", message, times=times, page=page, jobs=jobs)


EVERYWHERE = [
    done("slow", times=1), done("error_500", times=1), done("reset", times=1), done("unavailable_503", times=1),
    done("bad_items"),
    done("repeat_page", message="repeats: page 2 brought only jobs that were seen before", page=1, jobs=15),
    failed("error_500", "HTTP 500"), failed("changed_shape", "the answer holds no"),
    failed("broken_json", "broken JSON"),
    Trouble("reset", "partial", "network: page 2: the board gave no answer", 6),
    Trouble("unavailable_503", "partial", "network: page 2: HTTP 503", 6),
    blocked("forbidden_403", "HTTP 403"), blocked("too_many_429", "HTTP 429"),
    login_lost("unauthorized_401", "HTTP 401"),
]  # fmt: skip
TROUBLES = {
    "boss": [
        blocked("block_37_visit", "code 37"), blocked("block_37_environment", "code 37"),
        blocked("block_36", "code 36"), blocked("block_35", "code 35"), blocked("rate_limit", "code 9"),
        blocked("security_check", "sent to the check page"), blocked("html_page", "a web page came"),
        login_lost("login_expired", "code 7"), login_lost("login_page", "sent to the login page"),
        login_lost("no_salary", "all salaries are empty"), login_lost("wrong_identity", "code 24"),
        done("empty", page=1, jobs=15), done("shrinking_totals"),
    ],
    "qcwy": [
        blocked("waf_slider", "the guard's slider page"), blocked("waf_cookie_page", "the guard's cookie page"),
        blocked("status_blocked", "status 1001"), blocked("status_throttled", "status 1003"),
        blocked("silent_limit", "an empty page 2"), login_lost("login_page", "the login page came"),
        login_lost("login_expired", "status 1002"), failed("status_parameter", "status 0"),
        done("empty", page=1, jobs=15), done("shrinking_totals", page=2, jobs=30),
    ],
    "zhilian": [
        blocked("freq_limit", "code 500 «freq limit»"), blocked("forbidden", "code 403"),
        blocked("edgeone", "the guard's check (EdgeOne)"), blocked("busy_page", "«访问过于频繁»"),
        blocked("soft_block", "an empty page 2"), blocked("verification", "the board asks for a verification"),
        login_lost("login_expired", "code 401"), login_lost("login_page", "the login page came"),
        done("empty", page=1, jobs=15), done("shrinking_totals", page=2, jobs=30),
    ],
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_each_fault_ends_in_its_state_with_its_message(source: str, scene: Scene, subtests: pytest.Subtests) -> None:
    scene.source = source
    for number, trouble in enumerate(EVERYWHERE + TROUBLES[source]):
        with subtests.test(trouble.kind, times=trouble.times):
            job = f"job {number}"
            scene.add(job)
            scene.board.clear_faults()
            scene.board.add_fault(Fault(trouble.kind, page=2, times=trouble.times, seconds=0.2))
            # One crawler alone: two that are blocked would make the service close the source.
            code = scene.run_spider(
                "--once", spider_id="one", SPIDER_BOARD_RETRIES="1", SPIDER_BOARD_BACKOFF_SECONDS="0.01"
            )
            keyword = scene.keyword(job)
            assert (keyword["status"], keyword["retry_count"]) == (trouble.status, trouble.retries)
            assert keyword["error_message"].startswith(trouble.message)
            assert bool(keyword["error_message"]) == bool(trouble.message)
            assert (keyword["last_completed_page"], keyword["jobs_found"]) == (trouble.page, trouble.jobs)
            assert code == trouble.exit_code
            # Out of the way: what is partial or failed would be handed out before the next one.
            scene.board.clear_faults()
            while scene.keyword(job)["status"] != "completed":
                assert scene.run_spider("--once") == 0
            assert scene.keyword(job)["error_message"] == ("" if trouble.status != "completed" else trouble.message)
    counts = Counter(scene.stored_ids())
    assert counts.most_common(1)[0][1] == 1
    log = scene.log()
    assert "Traceback" not in log
    assert "INFO" in log

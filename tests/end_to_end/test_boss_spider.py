"""The Boss spider as a process of its own, with the real service and the stand-in for the board."""

import subprocess
import sys
from collections import Counter

import pytest

from tests.scene import PATIENCE_SECONDS, Scene
from tests.service_process import ROOT, running_service
from tests.stand_in import Fault


def test_a_block_releases_the_keyword_with_its_reason_and_uses_up_no_try(scene: Scene) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("block_37_visit", page=2))
    assert scene.run_spider("--once") == 4
    keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["last_completed_page"], keyword["retry_count"]) == ("partial", 1, 0)
    assert keyword["error_message"].startswith("blocked: page 2: code 37")
    assert scene.board.pages_asked() == [1, 2]


@pytest.mark.parametrize("fault", ["login_expired", "no_salary"])
def test_a_lost_login_is_told_as_one(scene: Scene, fault: str) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault(fault))
    assert scene.run_spider("--once") == 5
    assert scene.keyword("Python")["error_message"].startswith("login: page 1")


def test_a_keyword_that_fails_three_times_rests_for_the_day(scene: Scene) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("changed_shape"))
    assert scene.run_spider("--max-keywords", "5") == 0
    keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["retry_count"]) == ("failed", 3)
    assert scene.board.pages_asked() == [1, 1, 1]


def test_the_service_may_be_killed_in_the_middle_of_a_crawl(scene: Scene, empty_database: str) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("slow", page=2, times=1, seconds=1))
    spider = scene.start_spider("--once", SPIDER_SERVICE_BACKOFF_SECONDS="0.1")
    scene.until(lambda: scene.board.pages_asked() == [1, 2])
    port = str(scene.service.port)
    scene.service.kill()
    with running_service(empty_database, scene.folder / "service.log", PORT=port):
        assert spider.wait(timeout=PATIENCE_SECONDS) == 0
        keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["jobs_found"]) == ("completed", 45)
    assert scene.board.pages_asked() == [1, 2, 3]


def test_two_spiders_share_the_work_and_one_output_file(scene: Scene) -> None:
    scene.add(*(f"job {number}" for number in range(12)))
    spiders = [scene.start_spider("--max-keywords", "12") for _ in range(2)]
    assert [spider.wait(timeout=PATIENCE_SECONDS) for spider in spiders] == [0, 0]
    assert len(scene.board.pages_asked()) == 36
    assert Counter(scene.stored_ids()).most_common(1)[0][1] == 1
    assert len(scene.stored_ids()) == 12 * 45


def test_neither_cookies_nor_tokens_stand_in_the_logs(scene: Scene) -> None:
    scene.add("Python")
    assert scene.run_spider("--once", BOSS_COOKIE="wt2=very-secret-cookie; bst=other", SPIDER_LOG_LEVEL="DEBUG") == 0
    both = scene.log() + scene.service.log.read_text(encoding="utf-8")
    assert "very-secret-cookie" not in both
    assert "claim_token" not in both


def test_the_demo_shows_what_it_promises() -> None:
    demo = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "as promised" in demo.stdout

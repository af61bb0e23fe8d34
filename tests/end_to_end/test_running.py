"""Spiders left running: several workers, a service that goes away, a crash with reports that nobody has heard yet."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.scene import PATIENCE_SECONDS, Scene
from tests.service_process import ROOT, running_service
from tests.stand_in import Fault


def owed_pages(folder: Path) -> list[int]:
    lines = [line for file in folder.glob("spider/owed-*.jsonl") for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line)["body"]["page"] for line in lines]


def examine(url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "SPIDER_BASE_URL": url, "SPIDER_OUTPUT_DIR": str(folder / "jobs")}
    return subprocess.run(
        [sys.executable, "-m", "jobs_spider", "doctor", "boss"],
        check=False, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


def test_two_workers_crawl_six_keywords_and_no_page_twice(scene: Scene) -> None:
    jobs = [f"job {number}" for number in range(6)]
    scene.add(*jobs)
    assert scene.run_spider("--max-keywords", "6", "--workers", "2") == 0
    visits = Counter((visit["keyword"], visit["page"]) for visit in scene.board.visits)
    assert visits == {(job, page): 1 for job in jobs for page in (1, 2, 3)}
    assert [scene.keyword(job)["jobs_found"] for job in jobs] == [45] * 6
    assert len(scene.stored_ids()) == len(set(scene.stored_ids())) == 6 * 45


def test_a_service_that_is_stopped_under_a_running_crawl_hears_everything_later(
    scene: Scene, empty_database: str
) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("slow", page=2, times=1, seconds=1))
    spider = scene.start_spider("--once", SPIDER_SERVICE_RETRIES="0")
    scene.until(lambda: scene.board.pages_asked() == [1, 2])
    port = str(scene.service.port)
    scene.service.stop()
    # The crawl goes on without the service.
    scene.until(lambda: scene.board.pages_asked() == [1, 2, 3])
    with running_service(empty_database, scene.folder / "service.log", PORT=port):
        assert spider.wait(timeout=PATIENCE_SECONDS) == 0
        keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["last_completed_page"], keyword["jobs_found"]) == ("completed", 3, 45)
    assert scene.board.pages_asked() == [1, 2, 3]
    assert owed_pages(scene.folder) == []


def test_a_report_that_nobody_heard_before_a_crash_is_told_after_it(scene: Scene, empty_database: str) -> None:
    scene.add("Python")
    scene.board.add_fault(Fault("slow", page=2, times=1, seconds=1))
    scene.board.add_fault(Fault("slow", page=3, times=1, seconds=30))
    spider = scene.start_spider(spider_id="stable", SPIDER_SERVICE_RETRIES="0")
    scene.until(lambda: scene.board.pages_asked() == [1, 2])
    port = str(scene.service.port)
    scene.service.kill()
    scene.until(lambda: scene.board.pages_asked() == [1, 2, 3])
    spider.kill()
    spider.wait()
    assert owed_pages(scene.folder) == [2]
    with running_service(empty_database, scene.folder / "service.log", PORT=port):
        assert scene.run_spider("--once", spider_id="stable") == 0
        keyword = scene.keyword("Python")
    assert (keyword["status"], keyword["jobs_found"]) == ("completed", 45)
    assert scene.board.pages_asked() == [1, 2, 3, 3]
    assert len(scene.stored_ids()) == len(set(scene.stored_ids())) == 45
    assert "owed report delivered call=page-progress keyword=1 page=2" in scene.log()
    assert owed_pages(scene.folder) == []


def test_the_doctor_tells_a_living_service_from_a_dead_one(scene: Scene) -> None:
    living = examine(scene.service.url, scene.folder)
    assert (living.returncode, living.stderr) == (0, "")
    assert f"ok   service: answers at {scene.service.url}" in living.stdout
    assert "ok   clock" in living.stdout
    scene.service.stop()
    dead = examine(scene.service.url, scene.folder)
    assert (dead.returncode, dead.stderr) == (1, "")
    assert "fail service: no answer from" in dead.stdout
    assert scene.board.visits == []

"""The stand-in itself: what the other tests believe of it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.stand_in import Fault, StandIn
from tests.stand_in_boss import job_ids

ROOT = Path(__file__).parents[2]


@pytest.fixture
def web() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


def ask(web: requests.Session, board: StandIn, page: int = 1, keyword: str = "C++", city: str = "101020100") -> Any:
    query: dict[str, str] = {"query": keyword, "city": city, "page": str(page)}
    return web.get(board.search_url("boss"), params=query, timeout=10).json()


def listed(answer: Any) -> list[str]:
    return [job["encryptJobId"] for job in answer["zpData"]["jobList"]]


def test_the_same_question_has_the_same_answer(web: requests.Session, board: StandIn) -> None:
    assert ask(web, board) == ask(web, board)
    assert listed(ask(web, board)) == job_ids("101020100", "C++", 1, 4)


def test_pages_keywords_and_cities_have_jobs_of_their_own(web: requests.Session, board: StandIn) -> None:
    answers = [
        ask(web, board),
        ask(web, board, page=2),
        ask(web, board, keyword="Go"),
        ask(web, board, city="101010100"),
    ]
    ids = [job_id for answer in answers for job_id in listed(answer)]
    assert len(ids) == len(set(ids)) == 16


def test_the_last_page_says_so_and_the_one_after_it_is_empty(web: requests.Session, board: StandIn) -> None:
    assert [ask(web, board, page)["zpData"]["hasMore"] for page in (2, 3)] == [True, False]
    assert listed(ask(web, board, 4)) == []


def test_a_city_name_instead_of_its_code_silently_finds_nothing(web: requests.Session, board: StandIn) -> None:
    assert listed(ask(web, board, city="上海")) == []


def test_a_fault_strikes_the_first_requests_of_its_page_only(web: requests.Session, board: StandIn) -> None:
    board.add_fault(Fault("block_35", page=2, times=1))
    assert [ask(web, board, page)["code"] for page in (1, 2, 2)] == [0, 35, 0]


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="block_35"):
        Fault("surprise")


def test_faults_are_switched_while_it_runs(web: requests.Session, board: StandIn) -> None:
    control = f"{board.url}/_control/faults"
    assert web.post(control, json={"kind": "surprise"}, timeout=10).status_code == 422
    web.post(control, json=[{"kind": "login_expired", "keyword": "C++"}], timeout=10)
    assert web.get(control, timeout=10).json()[0]["kind"] == "login_expired"
    assert [ask(web, board)["code"], ask(web, board, keyword="Go")["code"]] == [7, 0]
    web.delete(control, timeout=10)
    assert ask(web, board)["code"] == 0


def test_the_shape_is_switched_while_it_runs(web: requests.Session, board: StandIn) -> None:
    web.patch(f"{board.url}/_control/shape", json={"pages": 1}, timeout=10)
    assert ask(web, board)["zpData"]["hasMore"] is False


def test_the_check_page_of_a_redirect_is_there(web: requests.Session, board: StandIn) -> None:
    board.add_fault(Fault("security_check"))
    query = {"query": "C++", "city": "101020100"}
    answer = web.get(board.search_url("boss"), params=query, timeout=10)
    assert "security-check.html" in answer.url
    assert answer.text.startswith("<!DOCTYPE html>")


def test_as_a_process_it_logs_each_request_at_once(web: requests.Session, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    fault = json.dumps({"kind": "forbidden_403", "page": 2})
    command = [sys.executable, "-m", "tests.stand_in", "--log", str(log), "--fault", fault, "--page-size", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().split()[-1]
        for page in ("1", "2"):
            query = {"query": "C++", "city": "1", "page": page}
            web.get(f"{url}/wapi/zpgeek/search/joblist.json", params=query, timeout=10)
        entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        process.kill()
    assert [(entry["board"], entry["keyword"], entry["page"], entry["outcome"]) for entry in entries] == [
        ("boss", "C++", 1, "ok"),
        ("boss", "C++", 2, "forbidden_403"),
    ]

"""What each answer of Boss means. The samples are described in tests/spider/samples."""

import json
from pathlib import Path
from typing import Any

import pytest

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
    WrongIdentity,
)
from jobs_spider.boss.answers import read_page

SAMPLES = Path(__file__).with_name("samples")
SEARCH = "https://www.zhipin.com/wapi/zpgeek/search/joblist.json?query=a&salary=403"


def answer_of(sample: str) -> Answer:
    """A saved answer: the body itself, or a wrapper that also holds the status and the final address."""
    body = (SAMPLES / f"{sample}.json").read_bytes()
    saved = json.loads(body)
    if "http_status" in saved:
        return Answer(saved["http_status"], saved["final_url"], saved["body"].encode())
    return Answer(200, SEARCH, body)


def refused(code: object, message: str = "") -> Answer:
    return Answer(200, SEARCH, json.dumps({"code": code, "message": message, "zpData": {}}).encode())


def listed(*entries: object, **data: object) -> Answer:
    content = {"code": 0, "message": "Success", "zpData": {"hasMore": True, "jobList": list(entries), **data}}
    return Answer(200, SEARCH, json.dumps(content).encode())


def entry(number: int = 1, **changes: object) -> dict[str, Any]:
    return {"encryptJobId": f"id-{number}~", "jobName": "Python", "salaryDesc": "10-20K", **changes}


def read(answer: Answer) -> Page:
    return read_page(answer, page_size=15)


@pytest.mark.parametrize(
    ("sample", "job_count", "has_more", "total_pages"),
    [("boss_1", 1, True, None), ("boss_3", 1, True, 10), ("boss_4", 1, False, 10), ("boss_5", 0, False, None)],
)
def test_a_saved_page_is_read(sample: str, job_count: int, has_more: bool, total_pages: int | None) -> None:
    page = read(answer_of(sample))
    assert (len(page.jobs), page.has_more, page.total_pages, page.bad_items) == (job_count, has_more, total_pages, ())


@pytest.mark.parametrize(
    ("sample", "kind", "told"),
    [
        ("boss_7", Blocked, "__zp_stoken__"),
        ("boss_blocked_37", Blocked, "a new login does not help"),
        ("boss_8", Blocked, "您的IP地址存在异常行为"),
        ("boss_9", LoginLost, "Log in"),
        ("boss_10", Blocked, "/web/common/security-check.html"),
        ("boss_degraded_no_salary", LoginLost, "all salaries are empty"),
    ],
)
def test_a_saved_refusal_is_recognised(sample: str, kind: type[CrawlProblem], told: str) -> None:
    with pytest.raises(kind, match=told) as caught:
        read(answer_of(sample))
    assert caught.type is kind


def test_every_sample_is_in_a_table() -> None:
    marks = [
        mark
        for test in (test_a_saved_page_is_read, test_a_saved_refusal_is_recognised)
        for mark in getattr(test, "pytestmark", [])
    ]
    tabled = {row[0] for mark in marks for row in mark.args[1]}
    assert tabled == {path.stem for path in SAMPLES.glob("boss_*.json")}


@pytest.mark.parametrize("code", [31, 32, 35, 36, 37, 121, 122, 5002, 5003, 5004, 5012, "37"])
def test_block_codes_are_blocks(code: object) -> None:
    with pytest.raises(Blocked):
        read(refused(code))


@pytest.mark.parametrize("words", ["访问频繁", "操作太频繁", "安全校验", "安全验证", "请拖动滑块", "请完成验证"])
def test_block_words_under_an_unknown_code_are_a_block(words: str) -> None:
    with pytest.raises(Blocked, match=words):
        read(refused(4711, f"您好，{words}。"))


@pytest.mark.parametrize("code", [7, 120, 1011])
def test_login_codes_are_a_lost_login(code: int) -> None:
    with pytest.raises(LoginLost):
        read(refused(code))


def test_code_24_asks_to_switch_the_identity() -> None:
    with pytest.raises(WrongIdentity, match="recruiter"):
        read(refused(24, "请切换身份后再试"))


def test_code_9_is_a_rate_limit() -> None:
    with pytest.raises(RateLimited):
        read(refused(9))


@pytest.mark.parametrize(
    ("code", "told"), [(17, "parameter"), (19, "parameter"), (4711, "not known"), ([], "not known")]
)
def test_other_codes_are_a_changed_shape(code: object, told: str) -> None:
    with pytest.raises(ShapeChanged, match=told):
        read(refused(code, "x"))


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, b"", RateLimited),
        (401, b"", LoginLost),
        (403, b"<html>", Blocked),
        (404, b'{"code": 1}', Blocked),
        (404, b"not here", ShapeChanged),
        (405, b"", ShapeChanged),
        (500, b"", ServerFault),
        (502, b"<html>", Unreachable),
        (503, b"", Unreachable),
    ],
)
def test_the_http_status_counts_first(status: int, body: bytes, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(Answer(status, SEARCH, body))
    assert caught.type is kind


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/web/common/security-check.html?seed=x", Blocked),
        ("https://www.zhipin.com/web/user/safe/verify-slider?callbackUrl=x", Blocked),
        ("https://www.zhipin.com/verify.html?callbackUrl=x", Blocked),
        ("https://www.zhipin.com/403.html", Blocked),
        ("https://www.zhipin.com/web/user/?ka=header-login", LoginLost),
        ("https://www.zhipin.com/elsewhere?salary=403", ShapeChanged),
    ],
)
def test_a_redirect_is_judged_by_its_path(address: str, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind):
        read(Answer(302, address, b""))


def test_a_web_page_instead_of_data_is_a_block() -> None:
    with pytest.raises(Blocked, match="web page"):
        read(Answer(200, SEARCH, b"\n <!DOCTYPE html><html>"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"code": 0, "zpData": {"jobList": [',
        b"\xff\xfe\xff",
        b"[]",
        b'"text"',
        b'{"code": 0}',
        b'{"code": 0, "zpData": []}',
        b'{"code": 0, "zpData": {}}',
        b'{"code": 0, "zpData": {"jobList": {}}}',
    ],
)
def test_what_cannot_be_read_is_a_changed_shape_and_never_no_jobs(body: bytes) -> None:
    with pytest.raises(ShapeChanged):
        read(Answer(200, SEARCH, body))


def test_a_job_is_read_with_its_fields() -> None:
    (job,) = read(answer_of("boss_1")).jobs
    assert job.model_dump(exclude={"raw"}) == {
        "source": "boss",
        "job_id": "0000aaaa00010000001XN-2NS_GF01",
        "title": "机械臂算法专家",
        "company": "仙工",
        "city": "上海",
        "district": "浦东新区·金桥",
        "salary_text": "50-80K·15薪",
        "experience": "经验不限",
        "degree": "硕士",
        "tags": ("经验不限", "硕士", "C/C++", "融合感知算法", "SLAM算法", "Python"),
        "published_at": None,
        "company_size": "100-499人",
        "company_industry": "计算机软件",
        "company_stage": "C轮",
        "url": "https://www.zhipin.com/job_detail/0000aaaa00010000001XN-2NS_GF01.html",
    }


def test_no_recruiter_is_kept() -> None:
    (job,) = read(answer_of("boss_1")).jobs
    assert "HR001" not in job.model_dump_json()


def test_missing_null_and_number_fields_do_not_lose_the_job() -> None:
    (job,) = read(listed(entry(brandName=None, jobDegree=7, jobLabels=None, skills=["Go", 3, ""]))).jobs
    assert (job.company, job.degree, job.experience, job.tags) == ("", "7", "", ("Go",))


def test_a_job_without_an_id_is_kept_without_a_link() -> None:
    (job,) = read(listed(entry(encryptJobId=None))).jobs
    assert (job.job_id, job.url, job.identity) == ("", "", ("Python", "", "", "10-20K"))


def test_bad_entries_are_counted_and_the_others_kept() -> None:
    page = read(listed(None, {}, entry(3)))
    assert ([job.job_id for job in page.jobs], page.bad_items) == (["id-3~"], (1, 2))


def test_half_an_emoji_is_replaced_and_the_job_kept() -> None:
    (job,) = read(listed(entry(jobName="\ud83d急聘", skills=["\udc00"]))).jobs
    assert (job.title, job.tags) == ("?急聘", ("?",))


def test_a_page_of_bad_entries_only_is_a_changed_shape() -> None:
    with pytest.raises(ShapeChanged, match="none of the 2"):
        read(listed(None, {}))


def test_salaries_under_another_name_are_a_changed_shape_not_a_lost_login() -> None:
    with pytest.raises(ShapeChanged, match="salaryDesc"):
        read(listed({"encryptJobId": "a", "jobName": "b"}))


def test_one_salary_is_enough_to_be_logged_in() -> None:
    assert len(read(listed(entry(1, salaryDesc=""), entry(2))).jobs) == 2


@pytest.mark.parametrize(
    ("data", "total_pages"),
    [
        ({"totalCount": 300, "resCount": 450}, 10),
        ({"resCount": 5}, 3),
        ({"resCount": 5, "hasMore": False}, 1),
        ({"resCount": 0}, None),
        ({"resCount": "many"}, None),
        ({}, None),
    ],
)
def test_pages_follow_from_the_count_and_the_real_page_size(data: dict[str, Any], total_pages: int | None) -> None:
    assert read(listed(entry(1), entry(2), **data)).total_pages == total_pages


def test_an_empty_list_that_claims_to_go_on_has_no_total() -> None:
    assert read(listed(resCount=30)).total_pages is None

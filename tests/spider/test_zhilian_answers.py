"""What each answer of Zhaopin means. The samples are described in tests/spider/samples/index.json."""

import json
from datetime import UTC, datetime
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
)
from jobs_spider.zhilian.answers import read_page
from tests.spider.samples import SEARCH, answer_of, names

URL = SEARCH["zhilian"]
PAGES = [
    ("zhilian_1", 1, 2, True, 50),
    ("zhilian_3", 1, 1, True, 50),
    ("zhilian_5", 12, 2, True, 50),
    ("zhilian_6", 1, 0, False, None),
]
REFUSALS: list[tuple[str, type[CrawlProblem], str]] = [
    ("zhilian_7", Blocked, "verification"),
    ("zhilian_8", RateLimited, "freq limit"),
    ("zhilian_10", ShapeChanged, "ZHILIAN_SEARCH_URL"),
    ("zhilian_soft_block", Blocked, "although 87 hits are counted"),
]


def read(answer: Answer, page: int = 1) -> Page:
    return read_page(answer, page, 20)


def told(content: object) -> Answer:
    return Answer(200, URL, json.dumps(content).encode(), "application/json")


def listed(*entries: object, count: object = 100, **data: object) -> Answer:
    return told({"code": 200, "data": {"count": count, "isEndPage": 0, "list": list(entries), **data}})


def entry(number: int = 1, **changes: object) -> dict[str, Any]:
    return {"number": f"CC{number}J1", "name": "Java", "companyName": "甲", "salary60": "1-2万", **changes}


@pytest.mark.parametrize(("sample", "page", "job_count", "has_more", "total_pages"), PAGES)
def test_a_saved_page_is_read(
    sample: str, page: int, job_count: int, has_more: bool, total_pages: int | None
) -> None:  # fmt: skip
    got = read(answer_of(sample), page)
    assert (len(got.jobs), got.has_more, got.total_pages, got.bad_items) == (job_count, has_more, total_pages, ())


@pytest.mark.parametrize(("sample", "kind", "words"), REFUSALS)
def test_a_saved_refusal_is_recognised(sample: str, kind: type[CrawlProblem], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        read(answer_of(sample))
    assert caught.type is kind


def test_every_sample_is_in_a_table() -> None:
    assert {row[0] for row in PAGES} | {row[0] for row in REFUSALS} == names("zhilian")


def test_a_job_is_read_with_its_fields() -> None:
    (job,) = read(answer_of("zhilian_3")).jobs
    assert job.model_dump(exclude={"raw"}) == {
        "source": "zhilian",
        "job_id": "CC000000000J40000000001",
        "title": "C++开发工程师",
        "company": "示例科技有限公司",
        "company_size": "100-299人",
        "company_industry": "软件/IT服务",
        "company_stage": "A轮",
        "city": "北京",
        "district": "海淀区·中关村",
        "salary_text": "1.5-2.4万·13薪",
        "experience": "3-5年",
        "degree": "本科",
        "tags": ("C++", "Linux", "五险一金", "带薪年假"),
        "url": "http://www.zhaopin.com/jobdetail/CC000000000J40000000001.htm",
        "published_at": datetime(2026, 10, 1, 0, 0, tzinfo=UTC),
    }


def test_the_shape_of_2019_is_read() -> None:
    job = read(answer_of("zhilian_5"), 12).jobs[1]
    assert (job.job_id, job.title, job.company) == (
        "CC147451340J00131007914", "高级产品经理（教育APP）", "蓝港在线(北京)科技有限公司",
    )  # fmt: skip
    assert (job.city, job.district, job.salary_text, job.company_size) == (
        "北京",
        "朝阳区·望京",
        "15K-20K",
        "500-999人",
    )


def test_an_advertisement_is_skipped_and_not_counted_as_unreadable() -> None:
    page = read(listed({"adResponse": {"adId": 1}, "liveCard": {}}, entry(2), entry(3), count=2))
    assert ([job.job_id for job in page.jobs], page.bad_items) == (["CC2J1", "CC3J1"], ())


def test_a_list_of_advertisements_alone_is_an_empty_page() -> None:
    assert read(listed({"adResponse": {}}, count=0)).jobs == []
    with pytest.raises(Blocked, match="silent limit"):
        read(listed({"adResponse": {}}, count=40))


@pytest.mark.parametrize("spelling", ["positionURL", "positionUrl"])
def test_both_spellings_of_the_link_are_read_and_the_id_within_it(spelling: str) -> None:
    address = "http://jobs.zhaopin.com/CCL1J2.htm?refcode=1"
    (job,) = read(listed(entry() | {"number": None, spelling: address}, count=1)).jobs
    assert (job.job_id, job.url) == ("CCL1J2", "http://jobs.zhaopin.com/CCL1J2.htm")


def test_id_and_title_may_stand_deep_within() -> None:
    base = {"positionNumber": "CC9J9", "positionName": "测试"}
    (job,) = read(listed({"companyName": "乙", "jobDetailData": {"position": {"base": base}}}, count=1)).jobs
    assert (job.job_id, job.title, job.url) == ("CC9J9", "测试", "https://www.zhaopin.com/jobdetail/CC9J9.htm")


@pytest.mark.parametrize(
    ("count", "end", "page", "has_more", "pages"),
    [
        (100, 0, 1, True, 5), (100, 0, 5, False, 5), (100, 1, 2, False, 2), ("100", "0", 4, True, 5),
        (5000, 0, 49, True, 50), (5000, 0, 50, False, 50), (None, 0, 3, True, None), (None, 1, 3, False, 3),
    ],
)  # fmt: skip
def test_the_first_sign_of_an_end_counts(
    count: object, end: object, page: int, has_more: bool, pages: int | None
) -> None:
    got = read(listed(*(entry(number) for number in range(20)), count=count, isEndPage=end), page)
    assert (got.has_more, got.total_pages) == (has_more, pages)


@pytest.mark.parametrize(("page", "count"), [(1, 0), (6, 100), (1, None)])
def test_an_empty_list_without_hits_or_past_the_end_is_no_block(page: int, count: object) -> None:
    assert read(listed(count=count), page).jobs == []


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (500, "freq limit", RateLimited), (429, "", RateLimited), (1, "操作太频繁，请稍后再试", RateLimited),
        (401, "", LoginLost), (403, "", Blocked), (2024, "", Blocked), (1, "请完成验证", Blocked),
        (500, "oops", ShapeChanged), (None, "", ShapeChanged),
    ],
)  # fmt: skip
def test_another_code_is_told_by_itself_or_its_message(code: object, message: str, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(told({"code": code, "message": message}))
    assert caught.type is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, LoginLost), (403, Blocked), (405, ShapeChanged), (429, RateLimited), (500, ServerFault),
        (503, Unreachable),
    ],
)  # fmt: skip
def test_the_http_status_counts_first(status: int, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(Answer(status, URL, b""))
    assert caught.type is kind


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("<title>Security Verification</title>", Blocked),
        ("<html>Protected by Tencent Cloud EdgeOne</html>", Blocked),
        ("<html>正在验证连接安全性</html>", Blocked),
        ("<script src='geetest.js'></script>", Blocked),
        ("<html>访问过于频繁</html>", RateLimited),
        ('<a href="https://passport.zhaopin.com/login">', LoginLost),
        ("<html>登录后查看</html>", LoginLost),
        ("<html><a>登录</a></html>", Blocked),
    ],
)
def test_a_web_page_with_status_200_is_told_by_its_signs(page: str, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(Answer(200, URL, page.encode(), "text/html"))
    assert caught.type is kind


def test_a_redirect_to_the_login_is_a_lost_login() -> None:
    with pytest.raises(LoginLost):
        read(Answer(302, "https://passport.zhaopin.com/login?bkUrl=x", b""))


@pytest.mark.parametrize("content", [{"code": 200}, {"code": 200, "data": {}}, {"code": 200, "data": {"list": None}}])
def test_an_answer_without_a_list_is_a_changed_shape_and_never_no_jobs(content: object) -> None:
    with pytest.raises(ShapeChanged):
        read(told(content))


def test_odd_fields_do_not_lose_the_job() -> None:
    odd = entry(
        workCity={"name": "北京"}, financingStage="B轮", education=None, jobSkillTags=None, workingExp=3,
        welfareLabel=["双休"], showSkillTags=["Go", {"tag": "Rust"}, {}], publishTime=None, unknown=[1],
    )  # fmt: skip
    (job,) = read(listed(odd, count=1)).jobs
    assert (job.city, job.company_stage, job.degree, job.experience) == ("北京", "B轮", "", "3")
    assert (job.tags, job.published_at) == (("Go", "Rust", "双休"), None)


@pytest.mark.parametrize(
    ("fields", "salary"),
    [
        ({"salary60": "面议", "salaryCount": "13薪"}, "面议"),
        ({"salary60": "1-2万·13薪", "salaryCount": "13薪"}, "1-2万·13薪"),
        ({"salary60": "", "salaryReal": "15000-25000"}, "15000-25000元"),
        ({"salary60": "", "salaryReal": "0-0"}, ""),
    ],
)
def test_salary_and_months_are_put_together(fields: dict[str, object], salary: str) -> None:
    (job,) = read(listed(entry() | fields, count=1)).jobs
    assert job.salary_text == salary


def test_bad_entries_are_named_by_their_place_and_the_others_kept() -> None:
    page = read(listed(None, entry(2), {}, 7, count=2))
    assert ([job.job_id for job in page.jobs], page.bad_items) == (["CC2J1"], (1, 3, 4))


def test_no_recruiter_is_kept() -> None:
    (job,) = read(answer_of("zhilian_3")).jobs
    assert "HR001" not in job.model_dump_json()

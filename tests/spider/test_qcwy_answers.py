"""What each answer of 51job means. The samples are described in tests/spider/samples/index.json."""

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
from jobs_spider.qcwy.answers import read_page
from tests.spider.samples import SEARCH, answer_of, names

URL = SEARCH["qcwy"]
PAGES = [("qcwy_1", 20, True, 32), ("qcwy_3", 1, True, 50), ("qcwy_5", 0, False, None), ("qcwy_10", 2, False, 1)]
REFUSALS: list[tuple[str, type[CrawlProblem], str]] = [
    ("qcwy_6", Blocked, "although 637 hits are counted"),
    ("qcwy_7", Blocked, "请完成验证"),
    ("qcwy_9", Blocked, "slider"),
    ("qcwy_waf", Blocked, "slider"),
    ("qcwy_null_items", ShapeChanged, "no list of jobs"),
]


def read(answer: Answer, page: int = 1, page_size: int = 20) -> Page:
    return read_page(answer, page, page_size)


def told(content: object, **wire: Any) -> Answer:
    return Answer(200, URL, json.dumps(content).encode(), **wire)


def listed(*entries: object, total: object = 637) -> Answer:
    return told({"status": "1", "resultbody": {"job": {"totalCount": total, "items": list(entries)}}})


def entry(number: int = 1, **changes: object) -> dict[str, Any]:
    return {"jobId": str(number), "jobName": "电工", "provideSalaryString": "6-8千", **changes}


@pytest.mark.parametrize(("sample", "job_count", "has_more", "total_pages"), PAGES)
def test_a_saved_page_is_read(sample: str, job_count: int, has_more: bool, total_pages: int | None) -> None:
    page = read(answer_of(sample))
    assert (len(page.jobs), page.has_more, page.total_pages, page.bad_items) == (job_count, has_more, total_pages, ())


@pytest.mark.parametrize(("sample", "kind", "words"), REFUSALS)
def test_a_saved_refusal_is_recognised(sample: str, kind: type[CrawlProblem], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        read(answer_of(sample))
    assert caught.type is kind


def test_every_sample_is_in_a_table() -> None:
    assert {row[0] for row in PAGES} | {row[0] for row in REFUSALS} == names("qcwy")


def test_a_job_is_read_with_its_fields() -> None:
    job = read(answer_of("qcwy_1")).jobs[1]
    assert job.model_dump(exclude={"raw"}) == {
        "source": "qcwy",
        "job_id": "150007919",
        "title": "Python,数据分析,机器学习建模",
        "company": "西门子（中国）有限公司 金融服务集团 Financial Services (SFS)",
        "company_size": "",
        "company_industry": "",
        "company_stage": job.company_stage,
        "city": "苏州",
        "district": "苏州新区",
        "salary_text": "1.5-2万",
        "experience": "2年",
        "degree": "本科",
        "tags": ("2年", "本科", "五险一金"),
        "url": "https://jobs.51job.com/x/150007919.html",
        "published_at": job.published_at,
    }
    assert job.published_at is not None
    assert job.published_at.tzinfo is not None


def test_older_shapes_and_names_are_read() -> None:
    first, second = read(answer_of("qcwy_10")).jobs
    assert (first.city, first.district) == ("苏州", "姑苏区")
    assert first.url == "https://we.51job.com/pc/jobdetail?jobId=152847391"
    assert (second.job_id, second.title, second.salary_text, second.city) == ("77", "陈列师", "10-15K", "上海")


def test_both_spellings_of_the_count_are_read() -> None:
    assert read(answer_of("qcwy_3"), page_size=1).total_pages == 50


@pytest.mark.parametrize(
    ("total", "entries", "page", "page_size", "has_more", "pages"),
    [
        (637, 20, 1, 20, True, 32),
        ("637", 20, 31, 20, True, 32),
        (637, 17, 32, 20, False, 32),
        (5000, 20, 49, 20, True, 50),
        (5000, 20, 50, 20, False, 50),
        # Asked for 50 and given 20: the real size counts.
        (637, 20, 2, 50, True, 32),
        (637, 20, 20, 50, True, 32),
        (15, 5, 2, 20, True, 3),
        (3, 3, 1, 20, False, 1),
        (None, 20, 7, 20, True, None),
        ("many", 1, 1, 20, True, None),
    ],
)
def test_pages_follow_from_the_count(
    total: object, entries: int, page: int, page_size: int, has_more: bool, pages: int | None
) -> None:
    got = read(listed(*(entry(number + 1) for number in range(entries)), total=total), page, page_size)
    assert (got.has_more, got.total_pages) == (has_more, pages)


@pytest.mark.parametrize(("page", "total"), [(1, 0), (33, 637), (2, 20), (1, None)])
def test_an_empty_list_without_hits_or_past_the_end_is_no_block(page: int, total: object) -> None:
    got = read(listed(total=total), page)
    assert (got.jobs, got.has_more) == ([], False)


@pytest.mark.parametrize("page", [1, 32])
def test_an_empty_list_in_range_is_a_silent_limit(page: int) -> None:
    with pytest.raises(Blocked, match="silent limit"):
        read(listed(total=637), page)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        ("1001", "请求过于频繁，请完成验证", Blocked),
        ("1001", "请拖动滑块", Blocked),
        ("9", "Captcha needed", Blocked),
        ("9", "账号已被封禁", Blocked),
        ("9", "命中风控", Blocked),
        (9, "访问异常", Blocked),
        ("1002", "请先登录", LoginLost),
        ("0", "参数错误", ShapeChanged),
        ("1003", "系统繁忙", RateLimited),
        (None, "", RateLimited),
    ],
)
def test_another_status_is_told_by_its_message(status: object, message: str, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(told({"status": status, "message": message, "resultbody": None}))
    assert caught.type is kind
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b"", LoginLost), (403, b"<html>", Blocked), (405, b"", Blocked), (429, b"", RateLimited),
        (404, b"not here", ShapeChanged), (500, b"", ServerFault), (502, b"", Unreachable),
    ],
)  # fmt: skip
def test_the_http_status_counts_first(status: int, body: bytes, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind) as caught:
        read(Answer(status, URL, body))
    assert caught.type is kind


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("https://login.51job.com/login.php?lang=c", LoginLost),
        ("https://we.51job.com/_____tmd_____/punish?x5secdata=x", Blocked),
        ("https://we.51job.com/elsewhere?login.51job.com", ShapeChanged),
    ],
)
def test_a_redirect_is_judged_by_its_place(location: str, kind: type[CrawlProblem]) -> None:
    with pytest.raises(kind):
        read(Answer(302, location, b""))


@pytest.mark.parametrize(
    ("page", "kind", "words"),
    [
        ("<script>var arg1='AB'; setCookie(\"acw_sc__v2\", x);</script>", Blocked, "cookie page"),
        ('<a href="//login.51job.com/login.php">登录</a>', LoginLost, "login page"),
        ("<html><a>登录</a> 职位</html>", Blocked, "web page"),
        ("\ufeff <!DOCTYPE html>", Blocked, "web page"),
    ],
)
def test_a_web_page_with_status_200_is_told_by_its_signs(page: str, kind: type[CrawlProblem], words: str) -> None:
    with pytest.raises(kind, match=words):
        read(Answer(200, URL, page.encode(), "text/html"))


@pytest.mark.parametrize(
    "content", [[], "x", {"status": "1"}, {"status": "1", "resultbody": {}}, {"status": "1", "data": {"list": {}}}]
)
def test_an_answer_without_a_list_is_a_changed_shape_and_never_no_jobs(content: object) -> None:
    with pytest.raises(ShapeChanged):
        read(told(content))


def test_a_cut_off_answer_is_a_changed_shape() -> None:
    body = answer_of("qcwy_1").body
    for length in (1, 100, len(body) // 2, len(body) - 3):
        with pytest.raises(ShapeChanged, match="broken JSON"):
            read(Answer(200, URL, body[:length]))


def test_a_body_in_gbk_is_read_and_a_wrong_label_does_no_harm() -> None:
    content = {"status": "1", "resultbody": {"job": {"totalCount": 1, "items": [entry(jobName="电工·焊工")]}}}
    text = json.dumps(content, ensure_ascii=False)
    for body in (text.encode("gbk"), text.encode(), b"\xef\xbb\xbf" + text.encode()):
        (job,) = read(Answer(200, URL, body, "application/json;charset=GBK")).jobs
        assert job.title == "电工·焊工"


@pytest.mark.parametrize("job_id", ["", "0", 0, None])
def test_an_entry_without_an_id_is_dropped_counted_and_the_others_kept(job_id: object) -> None:
    page = read(listed(entry(1), entry(jobId=job_id), None, entry(4), total=4))
    assert ([job.job_id for job in page.jobs], page.bad_items) == (["1", "4"], (2, 3))


def test_numbers_nulls_and_unknown_fields_do_not_lose_the_job() -> None:
    odd = entry(
        jobId=7, fullCompanyName=None, companyName="乙", jobTags=None, jobAreaLevelDetail=None, newField={"a": 1}
    )
    (job,) = read(listed(odd, total=1)).jobs
    assert (job.job_id, job.company, job.tags, job.city) == ("7", "乙", (), "")


@pytest.mark.parametrize(
    ("fields", "tags"),
    [
        ({"jobTags": "['本科', '测绘工程']"}, ("本科", "测绘工程")),
        ({"jobTags": "__import__('os').getcwd()"}, ()),
        ({"jobTags": [], "jobTagsList": [{"jobTagName": "本科"}]}, ("本科",)),
        ({"jobTags": ["本科"], "jobWelfareCodeDataList": [{"chineseTitle": "五险一金"}]}, ("本科", "五险一金")),
    ],
)  # fmt: skip
def test_tags_are_read_from_all_their_forms(fields: dict[str, object], tags: tuple[str, ...]) -> None:
    (job,) = read(listed(entry() | fields, total=1)).jobs
    assert job.tags == tags


@pytest.mark.parametrize(
    ("area", "city", "district"),
    [
        ("南京·江宁区", "南京", "江宁区"),
        ("苏州-姑苏区", "苏州", "姑苏区"),
        ("北京·朝阳·望京", "北京", "朝阳·望京"),
        ("上海", "上海", ""),
        ("", "", ""),
    ],
)
def test_city_and_district_are_told_apart(area: str, city: str, district: str) -> None:
    (job,) = read(listed(entry(jobAreaString=area), total=1)).jobs
    assert (job.city, job.district) == (city, district)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("https://jobs.51job.com/x/1.html?s=sou&req=token", "https://jobs.51job.com/x/1.html"),
        ("//jobs.51job.com/x/1.html", "https://jobs.51job.com/x/1.html"),
        ("javascript:alert(1)", "https://we.51job.com/pc/jobdetail?jobId=1"),
        ("http://[bad", "https://we.51job.com/pc/jobdetail?jobId=1"),
        ("", "https://we.51job.com/pc/jobdetail?jobId=1"),
    ],
)
def test_a_link_has_no_session_and_is_never_a_script(href: str, url: str) -> None:
    (job,) = read(listed(entry(jobHref=href), total=1)).jobs
    assert job.url == url


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2023-12-12 09:22:00", datetime(2023, 12, 12, 1, 22, tzinfo=UTC)),
        ("2023-12-12", datetime(2023, 12, 11, 16, 0, tzinfo=UTC)),
        ("昨天", None),
        ("", None),
    ],
)
def test_the_day_of_issue_is_an_aware_time_or_null(written: str, moment: datetime | None) -> None:
    (job,) = read(listed(entry(issueDateString=written), total=1)).jobs
    assert job.published_at == moment


def test_neither_recruiter_nor_session_is_kept() -> None:
    (job,) = read(listed(entry(hrName="王五", hrUid="h1", jobHref="https://a.b/1.html?req=s3cret"), total=1)).jobs
    kept = job.model_dump_json()
    assert "王五" not in kept
    assert "h1" not in kept
    assert "s3cret" not in kept
    assert job.raw
    assert job.raw["provideSalaryString"] == "6-8千"

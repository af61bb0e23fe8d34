"""Reading Zhaopin's answers: bytes in, a page or the reason why there is none out. No network here."""

import re
from typing import Any, NoReturn
from urllib.parse import quote

from jobs_spider.board import Answer, Blocked, CrawlProblem, LoginLost, Page, RateLimited, ShapeChanged
from jobs_spider.reading import (
    CHECK_IN_BROWSER,
    SEEN_CHARACTERS,
    WAIT,
    Gate,
    counted_page,
    inner,
    joined,
    moment,
    nothing_here,
    plain_url,
    raw_entry,
    read_entries,
    read_object,
    text,
    texts,
    whole_number,
)
from jobs_spider.record import Job

SOURCE = "zhilian"
MOST_PAGES = 50
JOB_URL = "https://www.zhaopin.com/jobdetail/{}.htm"
PLAIN_RANGE = re.compile("[1-9][0-9]*-[1-9][0-9]*")
NUMBER_IN_URL = re.compile(r"/(CC\w+)\.htm")

CHECK_PLACES = ("/verify", "captcha")
LOGIN_PLACES = ("passport.zhaopin.com",)
CHALLENGE_SIGNS = ("Security Verification", "EdgeOne", "TencentEOCaptcha", "EO-Bot-Captcha", "正在验证连接安全性")
RATE_SIGNS = ("访问过于频繁", "稍后再试")
CAPTCHA_SIGN = "geetest"
# Not the word 登录 alone, which stands on every page.
LOGIN_SIGNS = ("passport.zhaopin.com", "请登录", "登录后查看")
SEARCH_PAGE_SIGN = "__INITIAL_STATE__"
RATE_WORDS = ("freq", "limit", "频繁", "稍后再试")
BLOCK_WORDS = ("验证", "滑块", "captcha", "风控", "异常")
LIST_NAMES = ("list", "results")

LOG_IN = "Log in to Zhaopin in the browser, copy its cookies anew (ZHILIAN_COOKIE_FILE) and start again."


def _web_page(page: str) -> CrawlProblem:
    if SEARCH_PAGE_SIGN in page:
        return ShapeChanged("the search's own web page came instead of data. Check ZHILIAN_SEARCH_URL.")
    if any(sign in page for sign in CHALLENGE_SIGNS):
        return Blocked(f"the guard's check (EdgeOne) came instead of data. {CHECK_IN_BROWSER}")
    if any(sign in page for sign in RATE_SIGNS):
        return RateLimited(f"«{RATE_SIGNS[0]}» came instead of data, too fast. {WAIT}")
    if CAPTCHA_SIGN in page:
        return Blocked(f"a captcha came instead of data. {CHECK_IN_BROWSER}")
    if any(sign in page for sign in LOGIN_SIGNS):
        return LoginLost(f"the login page came instead of data. {LOG_IN}")
    return Blocked(f"a web page came where data was expected. {CHECK_IN_BROWSER}")


GATE = Gate(
    address_setting="ZHILIAN_SEARCH_URL",
    log_in=LOG_IN,
    check_places=CHECK_PLACES,
    login_places=LOGIN_PLACES,
    web_page=_web_page,
)


def read_page(answer: Answer, page: int, page_size: int) -> Page:
    """The page in this answer; raises the CrawlProblem that it shows otherwise."""
    content = read_object(answer, GATE)
    code = text(content, "code", "statusCode")
    if code != "200":
        _refused(code, text(content, "message", "msg"))
    data = inner(content, "data")
    if whole_number(data.get("isVerification")):
        raise Blocked(f"the board asks for a verification. {CHECK_IN_BROWSER}")
    entries, total = _entries(data), whole_number(data.get("count"))
    # An answer without any job is judged by its count, also when advertisements stand in it.
    jobs = [entry for entry in entries if not _is_advertisement(entry)]
    if not jobs:
        return nothing_here(page, page_size, total)
    read = counted_page(read_entries(jobs, read_job), len(entries), page, page_size, total, MOST_PAGES)
    if whole_number(data.get("isEndPage")):
        return Page(read.jobs, read.bad_items, has_more=False, total_pages=page)
    return read


def _refused(code: str, message: str) -> NoReturn:
    seen = f"code {code or 'missing'} «{message[:SEEN_CHARACTERS]}»"
    if code == "429" or any(word in message.casefold() for word in RATE_WORDS):
        raise RateLimited(f"{seen}, too fast. {WAIT}")
    if code == "401":
        raise LoginLost(f"{seen}. {LOG_IN}")
    # 2024 is what a sister search of the same board answers to a blocked client.
    if code in ("403", "2024") or any(word in message.casefold() for word in BLOCK_WORDS):
        raise Blocked(f"{seen}. {CHECK_IN_BROWSER}")
    raise ShapeChanged(f"{seen} is not known to this version")


def _entries(data: dict[str, Any]) -> list[object]:
    for name in LIST_NAMES:
        if isinstance(data.get(name), list):
            entries: list[object] = data[name]
            return entries
    raise ShapeChanged("the answer holds no list of jobs (data.list)")


def _is_advertisement(entry: object) -> bool:
    return isinstance(entry, dict) and ("adResponse" in entry or "liveCard" in entry) and not entry.get("name")


def read_job(entry: dict[str, Any]) -> Job | None:
    """One entry of the list, None when it cannot be read. The fields of 2019 and of today are both known."""
    base = inner(entry, "jobDetailData", "position", "base")
    address = plain_url(text(entry, "positionURL", "positionUrl"))
    in_address = NUMBER_IN_URL.search(address)
    job_id = text(entry, "number") or text(base, "positionNumber") or (in_address[1] if in_address else "")
    title = text(entry, "name", "jobName") or text(base, "positionName")
    if not job_id and not title:
        return None
    return Job(
        source=SOURCE,
        job_id=job_id,
        title=title,
        company=text(entry, "companyName") or text(inner(entry, "company"), "name"),
        company_size=text(entry, "companySize") or text(inner(entry, "company", "size"), "name"),
        company_industry=text(entry, "industryName"),
        company_stage=_name(entry, "financingStage")
        or text(entry, "property", "propertyName")
        or text(inner(entry, "company", "type"), "name"),
        city=_city(entry),
        district=_district(entry),
        salary_text=_salary(entry),
        experience=_name(entry, "workingExp"),
        degree=_name(entry, "education") or _name(entry, "eduLevel"),
        tags=texts(
            *(entry.get(name) for name in ("jobSkillTags", "skillLabel", "showSkillTags")),
            *(entry.get(name) for name in ("welfareLabel", "welfareTagList", "welfare")),
            keys=("name", "value", "tag"),
        ),
        url=address or (JOB_URL.format(quote(job_id, safe="")) if job_id else ""),
        published_at=moment(text(entry, "publishTime", "firstPublishTime", "updateDate")),
        raw=raw_entry(entry),
    )


def _name(entry: dict[str, Any], field: str) -> str:
    """A field that is a text, or an object with its name."""
    return text(entry, field) or text(inner(entry, field), "name")


def _city(entry: dict[str, Any]) -> str:
    shown = text(inner(entry, "city"), "display")
    return _name(entry, "workCity") or shown.partition("-")[0]


def _district(entry: dict[str, Any]) -> str:
    shown = text(inner(entry, "city"), "display").partition("-")[2]
    area = text(entry, "cityDistrict") or shown
    return joined(area, text(entry, "streetName", "tradingArea", "businessArea"))


def _salary(entry: dict[str, Any]) -> str:
    salary, months = text(entry, "salary60", "salary"), text(entry, "salaryCount")
    if not salary and PLAIN_RANGE.fullmatch(real := text(entry, "salaryReal")):
        salary = f"{real}元"
    # The months stand beside the salary in some answers, and within it in others.
    return f"{salary}·{months}" if months and salary[:1].isdigit() and "薪" not in salary else salary

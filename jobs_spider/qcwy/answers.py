"""Reading 51job's answers: bytes in, a page or the reason why there is none out. No network here.

Its guard (a WAF) answers with a web page and HTTP 200 where data was expected: that is the usual block.
"""

import re
from ast import literal_eval
from typing import Any, NoReturn

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

SOURCE = "qcwy"
MOST_PAGES = 50
JOB_URL = "https://we.51job.com/pc/jobdetail?jobId={}"

CHECK_PLACES = ("/_____tmd_____/", "/punish", "/verify")
LOGIN_PLACES = ("login.51job.com", "/pc/login")
SLIDER_SIGNS = ("renderData", "waf-nc-title", "nc_bg", "访问验证", "请按住滑块", "滑动验证")
COOKIE_PAGE_SIGNS = ("acw_sc__v2", "aliyunwaf_", "aliyun_waf")
LOGIN_SIGN = "login.51job.com"
BLOCK_WORDS = ("验证", "滑块", "captcha", "封", "风控", "异常")
LOGIN_WORD = "登录"
PARAMETER_WORD = "参数"
# Envelopes of several years: where the answer keeps its list and its count.
LISTS = (("resultbody", "job"), ("resultBody", "job"), ("resultbody",), ("resultBody",), ("data",))
LIST_NAMES = ("items", "list", "jobs", "jobList")
NO_IDS = ("", "0")

LOG_IN = "Log in to 51job in the browser, copy its cookies anew and start again."
BROWSER_WAY = "Where this comes again and again, QCWY_FETCH=browser is often the only way that works."


def _web_page(page: str) -> CrawlProblem:
    if any(sign in page for sign in SLIDER_SIGNS):
        return Blocked(f"the guard's slider page came instead of data. {CHECK_IN_BROWSER} {BROWSER_WAY}")
    if any(sign in page for sign in COOKIE_PAGE_SIGNS):
        return Blocked(
            f"the guard's cookie page came instead of data (acw_sc__v2, good for about an hour). {CHECK_IN_BROWSER} "
            f"{BROWSER_WAY}"
        )
    # The address, not the word 登录, which stands on every page.
    if LOGIN_SIGN in page:
        return LoginLost(f"the login page came instead of data. {LOG_IN}")
    return Blocked(f"a web page came where data was expected. {CHECK_IN_BROWSER}")


GATE = Gate(
    address_setting="QCWY_SEARCH_URL",
    log_in=LOG_IN,
    check_places=CHECK_PLACES,
    login_places=LOGIN_PLACES,
    web_page=_web_page,
    block_statuses=frozenset({403, 405}),
)


def read_page(answer: Answer, page: int, page_size: int) -> Page:
    """The page in this answer; raises the CrawlProblem that it shows otherwise."""
    content = read_object(answer, GATE)
    status = str(content.get("status"))
    if status != "1":
        _refused(status, text(content, "message", "msg"))
    entries, total = _read_list(content)
    if not entries:
        return nothing_here(page, page_size, total)
    return counted_page(read_entries(entries, read_job), len(entries), page, page_size, total, MOST_PAGES)


def _refused(status: str, message: str) -> NoReturn:
    seen = f"status {status} «{message[:SEEN_CHARACTERS]}»"
    if any(word in message.casefold() for word in BLOCK_WORDS):
        raise Blocked(f"{seen}. {CHECK_IN_BROWSER} {BROWSER_WAY}")
    if LOGIN_WORD in message:
        raise LoginLost(f"{seen}. {LOG_IN}")
    if PARAMETER_WORD in message:
        raise ShapeChanged(f"{seen}: the board does not accept a parameter of the search")
    raise RateLimited(f"{seen}. {WAIT}")


def _read_list(content: dict[str, Any]) -> tuple[list[object], int | None]:
    for place in LISTS:
        holder = inner(content, *place)
        for name in LIST_NAMES:
            if isinstance(holder.get(name), list):
                return holder[name], whole_number(holder.get("totalCount", holder.get("totalcount")))
    raise ShapeChanged("the answer holds no list of jobs (resultbody.job.items)")


def read_job(entry: dict[str, Any]) -> Job | None:
    """One entry of the list, None when it cannot be read: without an id there is no link to it either."""
    job_id, title = text(entry, "jobId", "jobid"), text(entry, "jobName", "jobTitle")
    if job_id in NO_IDS or not title:
        return None
    city, district = _place(entry)
    return Job(
        source=SOURCE,
        job_id=job_id,
        title=title,
        company=text(entry, "fullCompanyName", "companyName", "ctmName"),
        company_size=text(entry, "companySizeString"),
        company_industry=text(entry, "companyIndustryType1Str", "industryType1Str"),
        company_stage=text(entry, "companyTypeString"),
        city=city,
        district=district,
        salary_text=text(entry, "provideSalaryString", "salary"),
        experience=text(entry, "workYearString"),
        degree=text(entry, "degreeString"),
        tags=_tags(entry),
        url=_url(entry, job_id),
        published_at=moment(text(entry, "issueDateString", "updateDateTime", "confirmDateString")),
        raw=raw_entry(entry),
    )


def _place(entry: dict[str, Any]) -> tuple[str, str]:
    """City and district: from «苏州·姑苏区», «苏州-姑苏区» or the levels beside it."""
    levels = inner(entry, "jobAreaLevelDetail")
    parts = [part.strip() for part in re.split("[·-]", text(entry, "jobAreaString", "cityName"))]
    city = text(levels, "cityString") or parts[0]
    return city, joined(*parts[1:]) or text(levels, "districtString")


def _tags(entry: dict[str, Any]) -> tuple[str, ...]:
    tags = entry.get("jobTags")
    if isinstance(tags, str):
        tags = _as_list(tags)
    first = tags or entry.get("jobTagsList")
    return texts(first, entry.get("jobWelfareCodeDataList"), keys=("jobTagName", "chineseTitle"))


def _as_list(written: str) -> list[str]:
    """Tags have been seen as a list written in Python: «['本科', '测绘工程']»."""
    try:
        tags = literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return tags if isinstance(tags, list) else []


def _url(entry: dict[str, Any], job_id: str) -> str:
    address = plain_url(text(entry, "jobHref"))
    # This address names the job in the query that is cut off.
    return address if address and not address.endswith("/jobdetail") else JOB_URL.format(job_id)

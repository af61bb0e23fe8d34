"""Reading Boss's answers: bytes in, a page or the reason why there is none out. No network here."""

import math
from typing import Any, NoReturn
from urllib.parse import quote

from jobs_spider.board import Answer, Blocked, LoginLost, Page, RateLimited, ShapeChanged, WrongIdentity
from jobs_spider.reading import (
    CHECK_IN_BROWSER,
    SEEN_CHARACTERS,
    WAIT,
    Gate,
    joined,
    raw_entry,
    read_entries,
    read_object,
    text,
    texts,
    whole_number,
)
from jobs_spider.record import Job

SOURCE = "boss"
MOST_PAGES = 10
JOB_URL = "https://www.zhipin.com/job_detail/{}.html"

CHECK_PATHS = ("/security-check", "/verify", "/403.html")
LOGIN_PATH = "/web/user/"
BLOCK_CODES = {"31", "32", "35", "36", "37", "121", "122", "5002", "5003", "5004", "5012"}
LOGIN_CODES = {"7", "120", "1011"}
WRONG_IDENTITY_CODE = "24"
RATE_LIMIT_CODE = "9"
PARAMETER_CODES = {"17", "19"}
BLOCK_WORDS = ("环境存在异常", "访问行为异常", "访问频繁", "操作太频繁", "安全校验", "安全验证", "滑块", "验证")
ENVIRONMENT_WORDS = ("环境存在异常", "环境异常")

FRESH_COOKIES = "Search once in the browser, copy its cookies anew and start again."
LOG_IN = "Log in to Boss in the browser, copy its cookies anew and start again."

GATE = Gate(
    address_setting="BOSS_SEARCH_URL",
    log_in=LOG_IN,
    check_places=CHECK_PATHS,
    login_places=(LOGIN_PATH,),
    web_page=lambda _text: Blocked(f"a web page came where data was expected. {CHECK_IN_BROWSER}"),
)


def read_page(answer: Answer, page_size: int) -> Page:
    """The page in this answer; raises the CrawlProblem that it shows otherwise."""
    return _read_list(_read_data(read_object(answer, GATE)), page_size)


def _read_data(content: dict[str, Any]) -> dict[str, Any]:
    # As text, since codes have been seen as numbers and as texts.
    code = str(content.get("code"))
    if code != "0":
        _refused(code, str(content.get("message", "")))
    data = content.get("zpData")
    if not isinstance(data, dict):
        raise ShapeChanged("the answer holds no zpData")
    return data


def _refused(code: str, message: str) -> NoReturn:
    seen = f"code {code} «{message[:SEEN_CHARACTERS]}»"
    if code in LOGIN_CODES:
        raise LoginLost(f"{seen}. {LOG_IN}")
    if code == WRONG_IDENTITY_CODE:
        raise WrongIdentity(f"{seen}: the account is in the recruiter's role. Switch it to job seeker in the browser.")
    if code == RATE_LIMIT_CODE:
        raise RateLimited(f"{seen}, too fast. {WAIT}")
    if code in BLOCK_CODES or any(word in message for word in BLOCK_WORDS):
        raise Blocked(f"{seen}. {_advice(code, message)}")
    if code in PARAMETER_CODES:
        raise ShapeChanged(f"{seen}: the board does not accept a parameter of the search")
    raise ShapeChanged(f"{seen} is not known to this version")


def _advice(code: str, message: str) -> str:
    if any(word in message for word in ENVIRONMENT_WORDS):
        return WAIT
    if code == "37":
        return f"The cookie __zp_stoken__ is missing or used up. {FRESH_COOKIES}"
    return f"Log in if you are not; else: {WAIT}"


def _read_list(data: dict[str, Any], page_size: int) -> Page:
    entries = data.get("jobList")
    if not isinstance(entries, list):
        raise ShapeChanged("the answer holds no jobList")
    read = read_entries(entries, read_job)
    if entries and not any(job.salary_text for job in read.jobs):
        if not any("salaryDesc" in entry for entry in entries if isinstance(entry, dict)):
            raise ShapeChanged("no entry holds salaryDesc")
        raise LoginLost(f"all salaries are empty, as without a login. {LOG_IN}")
    has_more = data.get("hasMore") is True
    total_pages = _total_pages(data, len(entries) if has_more else page_size)
    return Page(read.jobs, read.bad, has_more, total_pages)


def _total_pages(data: dict[str, Any], page_size: int) -> int | None:
    """Pages by the board's own count, which may be absent; the real page size counts, not the one asked for."""
    total = whole_number(data.get("totalCount", data.get("resCount")))
    if not total or page_size == 0:
        return None
    return min(MOST_PAGES, math.ceil(total / page_size))


def read_job(entry: dict[str, Any]) -> Job | None:
    """One entry of the list, None when it cannot be read."""
    job_id, title = text(entry, "encryptJobId"), text(entry, "jobName")
    if not job_id and not title:
        return None
    return Job(
        source=SOURCE,
        job_id=job_id,
        title=title,
        company=text(entry, "brandName"),
        company_size=text(entry, "brandScaleName"),
        company_industry=text(entry, "brandIndustry"),
        company_stage=text(entry, "brandStageName"),
        city=text(entry, "cityName"),
        district=joined(text(entry, "areaDistrict"), text(entry, "businessDistrict")),
        salary_text=text(entry, "salaryDesc"),
        experience=text(entry, "jobExperience"),
        degree=text(entry, "jobDegree"),
        tags=texts(entry.get("jobLabels"), entry.get("skills"), entry.get("welfareList")),
        url=JOB_URL.format(quote(job_id, safe="~")) if job_id else "",
        raw=raw_entry(entry),
    )

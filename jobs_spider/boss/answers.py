"""Reading Boss's answers: bytes in, a page or the reason why there is none out. No network here.

The order of the checks matters: status, redirect, HTML, JSON, code, list. A check page may come with any status and a
block with HTTP 200, and neither may ever pass for «no jobs».
"""

import json
import math
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

from jobs_spider.board import (
    Answer,
    Blocked,
    LoginLost,
    Page,
    RateLimited,
    ServerFault,
    ShapeChanged,
    Unreachable,
    WrongIdentity,
)
from jobs_spider.output import Job

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
WAIT = "Wait some hours and go slower; a new login does not help."
CHECK_IN_BROWSER = "Open the board in the browser, pass its check there, copy the cookies anew."


def read_page(answer: Answer, page_size: int) -> Page:
    """The page in this answer; raises the CrawlProblem that it shows otherwise."""
    _check_status(answer)
    _check_redirect(answer)
    if answer.body.lstrip().startswith(b"<"):
        raise Blocked(f"a web page came where data was expected. {CHECK_IN_BROWSER}")
    return _read_list(_read_data(_read_json(answer.body)), page_size)


def _check_status(answer: Answer) -> None:
    status = answer.status
    if status == 429:
        raise RateLimited(f"HTTP 429, too fast. {WAIT}")
    if status == 401:
        raise LoginLost(f"HTTP 401. {LOG_IN}")
    # Some addresses answer a blocked client with «not found» and the block as JSON.
    if status == 403 or (status == 404 and answer.body.lstrip().startswith(b"{")):
        raise Blocked(f"HTTP {status}. {CHECK_IN_BROWSER}")
    if status == 500:
        raise ServerFault("HTTP 500 again and again for this keyword")
    if status > 500:
        raise Unreachable(f"HTTP {status} from the board's gateway. Wait.")
    if status >= 400:
        raise ShapeChanged(f"HTTP {status} at the search address. Check BOSS_SEARCH_URL.")


def _check_redirect(answer: Answer) -> None:
    # Only the path counts: the salary filter 403 in a query was once taken for HTTP 403.
    path = urlsplit(answer.url).path
    if any(sign in path for sign in CHECK_PATHS):
        raise Blocked(f"sent to the check page {path}. {CHECK_IN_BROWSER}")
    if path.startswith(LOGIN_PATH):
        raise LoginLost(f"sent to the login page {path}. {LOG_IN}")
    if answer.status >= 300:
        raise ShapeChanged(f"HTTP {answer.status}, sent to {path}. Check BOSS_SEARCH_URL.")


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except ValueError as error:
        raise ShapeChanged(f"broken JSON ({type(error).__name__}, {len(body)} bytes)") from error
    if not isinstance(content, dict):
        raise ShapeChanged(f"JSON of another kind ({type(content).__name__})")
    return content


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
    seen = f"code {code} «{message[:100]}»"
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
    jobs = [job for job in map(read_job, entries) if job]
    if entries and not jobs:
        raise ShapeChanged(f"none of the {len(entries)} entries could be read")
    if jobs and not any(job.salary_text for job in jobs):
        if not any("salaryDesc" in entry for entry in entries if isinstance(entry, dict)):
            raise ShapeChanged("no entry holds salaryDesc")
        raise LoginLost(f"all salaries are empty, as without a login. {LOG_IN}")
    has_more = data.get("hasMore") is True
    return Page(jobs, len(entries) - len(jobs), has_more, _total_pages(data, len(entries) if has_more else page_size))


def _total_pages(data: dict[str, Any], page_size: int) -> int | None:
    """Pages by the board's own count, which may be absent; the real page size counts, not the one asked for."""
    total = data.get("totalCount", data.get("resCount"))
    if not isinstance(total, int) or total <= 0 or page_size == 0:
        return None
    return min(MOST_PAGES, math.ceil(total / page_size))


def read_job(entry: object) -> Job | None:
    """One entry of the list, None when it cannot be read. Any field may be missing, null or a number."""
    if not isinstance(entry, dict):
        return None
    job_id, title = _text(entry, "encryptJobId"), _text(entry, "jobName")
    if not job_id and not title:
        return None
    district = "·".join(filter(None, (_text(entry, "areaDistrict"), _text(entry, "businessDistrict"))))
    return Job(
        source=SOURCE,
        job_id=job_id,
        title=title,
        company=_text(entry, "brandName"),
        city=_text(entry, "cityName"),
        district=district,
        salary_text=_text(entry, "salaryDesc"),
        experience=_text(entry, "jobExperience"),
        degree=_text(entry, "jobDegree"),
        tags=_tags(entry),
        company_size=_text(entry, "brandScaleName"),
        company_industry=_text(entry, "brandIndustry"),
        company_stage=_text(entry, "brandStageName"),
        url=JOB_URL.format(quote(job_id, safe="~")) if job_id else "",
    )


def _text(entry: dict[str, Any], field: str) -> str:
    value = entry.get(field)
    return _storable(str(value)) if isinstance(value, str | int | float) else ""


def _tags(entry: dict[str, Any]) -> tuple[str, ...]:
    lists = (entry.get("jobLabels"), entry.get("skills"))
    texts = (_storable(tag) for tags in lists if isinstance(tags, list) for tag in tags if isinstance(tag, str))
    return tuple(dict.fromkeys(filter(None, texts)))


def _storable(text: str) -> str:
    # Half of a surrogate pair, from an emoji cut in two, is valid JSON but cannot be written as UTF-8.
    return text.encode(errors="replace").decode().strip()

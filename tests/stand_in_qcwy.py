"""How the stand-in answers as 51job: the same jobs for the same city, keyword and page, every time."""

from typing import Any, ClassVar

from tests.stand_in_board import Board, Reply, Shape, Visit, as_html, as_json, digest

SLIDER = (
    '<!DOCTYPE html><html><head><title>滑动验证页面</title></head><body><textarea id="renderData">{}</textarea>'
    '<p class="waf-nc-title">访问验证</p><p>请按住滑块，拖动到最右边</p><div class="nc_bg"></div></body></html>'
)
COOKIE_PAGE = (
    "<html><script>var arg1='0123456789ABCDEF0123456789ABCDEF01234567'; setCookie(\"acw_sc__v2\", x);"
    'document.location.reload();</script><script name="aliyunwaf_6a6f5ea8"></script></html>'
)


def _refusal(status: str, message: str) -> Reply:
    return as_json({"status": status, "message": message, "resultbody": None})


class Qcwy(Board):
    """51job's search, well or with one of its faults."""

    source = "qcwy"
    path = "/api/job/search-pc"
    refusals: ClassVar[dict[str, Reply]] = {
        "waf_slider": as_html(SLIDER),
        "waf_cookie_page": as_html(COOKIE_PAGE),
        "login_page": as_html('<html><a href="https://login.51job.com/login.php">登录</a></html>'),
        "login_expired": _refusal("1002", "请先登录"),
        "status_blocked": _refusal("1001", "请求过于频繁，请完成验证"),
        "status_throttled": _refusal("1003", "系统繁忙"),
        "status_parameter": _refusal("0", "参数错误"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._odd_answers["silent_limit"] = lambda visit, shape: as_json(self.answer(visit, [], shape))

    def visit(self, query: dict[str, str], body: bytes) -> Visit:
        page = int(query.get("pageNum", "1"))
        return Visit(self.source, query.get("jobArea", ""), query.get("keyword", ""), page)

    def job_id(self, visit: Visit, place: int) -> str:
        return str(100_000_000 + int(digest("qcwy", visit.city, visit.keyword, visit.page, place)[:12], 16))

    def answer(self, visit: Visit, jobs: list[Any], shape: Shape) -> dict[str, Any]:
        listed = {"totalCount": shape.total, "items": jobs}
        return {"status": "1", "message": "", "resultbody": {"requestId": "stand-in", "job": listed, "jobCard": None}}

    def job(self, visit: Visit, place: int) -> dict[str, Any]:
        job_id = self.job_id(visit, place)
        return {
            "jobId": job_id,
            "jobName": f"{visit.keyword}工程师{visit.page}-{place}",
            "jobTags": ["3-4年", "本科", visit.keyword],
            "jobAreaString": "上海·浦东新区",
            "jobAreaLevelDetail": {"provinceString": "上海", "cityString": "上海", "districtString": "浦东新区"},
            "provideSalaryString": f"{8 + place}千-{1 + place}.{place % 10}万·13薪" if place else "8千-1.2万",
            "issueDateString": "2026-02-28 09:04:59",
            "workYearString": "3-4年",
            "degreeString": "本科",
            "industryType1Str": "计算机软件",
            "fullCompanyName": f"公司{place}有限公司",
            "companyName": f"公司{place}",
            "companyTypeString": "民营",
            "companySizeString": "50-150人",
            "hrName": "示例",
            "hrPosition": "HR",
            "jobHref": f"https://jobs.51job.com/shanghai/{job_id}.html?s=sou_sou_soulb&t=0_0&req=session",
        }

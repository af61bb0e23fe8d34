"""How the stand-in answers as Boss: the same jobs for the same city, keyword and page, every time."""

from dataclasses import replace
from typing import Any, ClassVar

from tests.stand_in_board import Board, Reply, Shape, Visit, as_html, as_json, digest


def _refusal(code: int, message: str) -> Reply:
    return as_json({"code": code, "message": message, "zpData": {}})


class Boss(Board):
    """Boss's search, well or with one of its faults."""

    source = "boss"
    path = "/wapi/zpgeek/search/joblist.json"
    refusals: ClassVar[dict[str, Reply]] = {
        "block_37_visit": _refusal(37, "您的访问行为异常."),
        "block_37_environment": _refusal(37, "您的环境存在异常."),
        "block_36": _refusal(36, "您的账户存在异常行为"),
        "block_35": _refusal(35, "您的IP地址存在异常行为."),
        "login_expired": _refusal(7, "当前登录状态已失效"),
        "wrong_identity": _refusal(24, "请切换身份后再试"),
        "rate_limit": _refusal(9, "操作太频繁"),
        "security_check": Reply(302, b"", location="/web/common/security-check.html?seed=x&name=y&ts=1"),
        "login_page": Reply(302, b"", location="/web/user/?ka=header-login"),
        "html_page": as_html("<html><title>请稍候</title></html>"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._odd_answers["no_salary"] = self._without_salary

    def visit(self, query: dict[str, str], body: bytes) -> Visit:
        return Visit(self.source, query.get("city", ""), query.get("query", ""), int(query.get("page", "1")))

    def job_id(self, visit: Visit, place: int) -> str:
        return digest("boss", visit.city, visit.keyword, visit.page, place)[:20] + "XN-2NS_~"

    def answer(self, visit: Visit, jobs: list[Any], shape: Shape) -> dict[str, Any]:
        data = {
            "resCount": shape.total,
            "totalCount": min(shape.total, 300),
            "hasMore": visit.page < shape.pages,
            "filterString": "",
            "lid": "stand-in",
            "jobList": jobs,
            "brandCard": None,
            "type": 2,
        }
        return {"code": 0, "message": "Success", "zpData": data}

    def job(self, visit: Visit, place: int) -> dict[str, Any]:
        return {
            "encryptJobId": self.job_id(visit, place),
            "jobName": f"{visit.keyword}工程师{visit.page}-{place}",
            "salaryDesc": f"{10 + place}-{20 + place}K·14薪",
            "jobLabels": ["3-5年", "本科"],
            "skills": [visit.keyword],
            "jobExperience": "3-5年",
            "jobDegree": "本科",
            "cityName": "上海",
            "areaDistrict": "浦东新区",
            "businessDistrict": "金桥",
            "brandName": f"公司{place}",
            "encryptBrandId": f"brand{place}~",
            "brandScaleName": "100-499人",
            "brandIndustry": "计算机软件",
            "brandStageName": "C轮",
            "welfareList": ["五险一金"],
            "bossName": "示例",
            "bossTitle": "HR",
            "gps": None,
            "iconWord": None,
        }

    def _without_salary(self, visit: Visit, shape: Shape) -> Reply:
        jobs = [{**job, "salaryDesc": ""} for job in self.jobs(visit, shape)]
        return as_json(self.answer(visit, jobs, shape))

    def _with_shrinking_total(self, visit: Visit, shape: Shape) -> Reply:
        # Boss's «more» is no count, and stays right.
        content = self.answer(visit, self.jobs(visit, shape), shape)
        fewer = replace(shape, pages=max(1, shape.pages - visit.page + 1)).total
        return as_json({**content, "zpData": {**content["zpData"], "resCount": fewer, "totalCount": fewer}})


BOSS = Boss()
job_ids = BOSS.ids

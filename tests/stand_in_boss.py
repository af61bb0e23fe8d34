"""How the stand-in answers as Boss: the same jobs for the same city, keyword and page, every time."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar


@dataclass(frozen=True)
class Visit:
    """One request for a result page, as the access log shows it."""

    board: str
    city: str
    keyword: str
    page: int


@dataclass(frozen=True)
class Shape:
    """What the boards hold: so many pages of each keyword, of so many jobs."""

    pages: int
    page_size: int


@dataclass(frozen=True)
class Reply:
    """An answer before it is sent."""

    status: int
    body: bytes
    content_type: str = "application/json; charset=utf-8"
    location: str = ""


def job_ids(city: str, keyword: str, page: int, count: int) -> list[str]:
    """The ids that the stand-in gives to a page's jobs; tests compare with them."""
    return [
        sha256(f"boss|{city}|{keyword}|{page}|{place}".encode()).hexdigest()[:20] + "XN-2NS_~" for place in range(count)
    ]


class Boss:
    """Boss's search, well or with one of its faults."""

    refusals: ClassVar[dict[str, tuple[int, str]]] = {
        "block_37_visit": (37, "您的访问行为异常."),
        "block_37_environment": (37, "您的环境存在异常."),
        "block_36": (36, "您的账户存在异常行为"),
        "block_35": (35, "您的IP地址存在异常行为."),
        "login_expired": (7, "当前登录状态已失效"),
        "wrong_identity": (24, "请切换身份后再试"),
        "rate_limit": (9, "操作太频繁"),
    }

    def __init__(self) -> None:
        self._odd_pages: dict[str, Callable[[Visit, Shape], dict[str, Any]]] = {
            "no_salary": self._without_salary,
            "shrinking_totals": self._with_shrinking_total,
            "repeat_page": self._first_page_again,
            "changed_shape": lambda _visit, _shape: {"jobs": []},
            "empty": lambda visit, shape: self._page(visit, Shape(0, shape.page_size)),
            "bad_items": self._with_bad_items,
        }
        self._odd_replies = {
            "security_check": Reply(302, b"", location="/web/common/security-check.html?seed=x&name=y&ts=1"),
            "login_page": Reply(302, b"", location="/web/user/?ka=header-login"),
            "html_page": Reply(200, "<html><title>请稍候</title></html>".encode(), "text/html; charset=utf-8"),
            "broken_json": Reply(200, b'{"code": 0, "zpData": {"jobList": [{"encry'),
        }

    @property
    def faults(self) -> list[str]:
        return [*self.refusals, *self._odd_pages, *self._odd_replies]

    def visit(self, query: dict[str, str]) -> Visit:
        return Visit("boss", query.get("city", ""), query.get("query", ""), int(query.get("page", "1")))

    def reply(self, visit: Visit, shape: Shape, kind: str) -> Reply:
        if kind in self._odd_replies:
            return self._odd_replies[kind]
        if kind in self.refusals:
            code, message = self.refusals[kind]
            return self._json({"code": code, "message": message, "zpData": {}})
        data = self._odd_pages.get(kind, self._page)(visit, shape)
        return self._json({"code": 0, "message": "Success", "zpData": data})

    def _json(self, content: dict[str, Any]) -> Reply:
        return Reply(200, json.dumps(content, ensure_ascii=False).encode())

    def _page(self, visit: Visit, shape: Shape) -> dict[str, Any]:
        # A city's name where its code belongs silently finds nothing, as at the board.
        pages = shape.pages if visit.city.isdigit() else 0
        ids = job_ids(visit.city, visit.keyword, visit.page, shape.page_size if visit.page <= pages else 0)
        total = pages * shape.page_size
        return {
            "resCount": total,
            "totalCount": min(total, 300),
            "hasMore": visit.page < pages,
            "filterString": "",
            "lid": "stand-in",
            "jobList": [self._job(job_id, visit, place) for place, job_id in enumerate(ids)],
            "brandCard": None,
            "type": 2,
        }

    def _job(self, job_id: str, visit: Visit, place: int) -> dict[str, Any]:
        return {
            "encryptJobId": job_id,
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

    def _without_salary(self, visit: Visit, shape: Shape) -> dict[str, Any]:
        data = self._page(visit, shape)
        return {**data, "jobList": [{**job, "salaryDesc": ""} for job in data["jobList"]]}

    def _with_shrinking_total(self, visit: Visit, shape: Shape) -> dict[str, Any]:
        total = max(shape.page_size, (shape.pages - visit.page + 1) * shape.page_size)
        return {**self._page(visit, shape), "resCount": total, "totalCount": total}

    def _first_page_again(self, visit: Visit, shape: Shape) -> dict[str, Any]:
        return {**self._page(Visit(visit.board, visit.city, visit.keyword, 1), shape), "hasMore": True}

    def _with_bad_items(self, visit: Visit, shape: Shape) -> dict[str, Any]:
        data = self._page(visit, shape)
        return {**data, "jobList": [None, {}, *data["jobList"]]}

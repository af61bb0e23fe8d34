"""How the stand-in answers as Zhaopin: the same jobs for the same city, keyword and page, every time."""

import json
from dataclasses import replace
from typing import Any, ClassVar

from tests.stand_in_board import Board, Reply, Shape, Visit, as_html, as_json, digest

ADVERTISEMENT = {"adResponse": {"adId": 1}, "liveCard": {}}


class Zhilian(Board):
    """Zhaopin's search, well or with one of its faults."""

    source = "zhilian"
    path = "/c/i/search/positions"
    method = "POST"
    refusals: ClassVar[dict[str, Reply]] = {
        "freq_limit": as_json({"code": 500, "msg": "freq limit"}),
        "login_expired": as_json({"code": 401, "message": "请登录"}),
        "forbidden": as_json({"code": 403, "message": "forbidden"}),
        "edgeone": as_html("<html><title>Security Verification</title>Protected by Tencent Cloud EdgeOne</html>"),
        "login_page": as_html('<html><a href="https://passport.zhaopin.com/login">登录后查看</a></html>'),
        "busy_page": as_html("<html>访问过于频繁，请稍后再试</html>"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._odd_answers |= {
            "soft_block": lambda visit, shape: as_json(self.answer(visit, [], shape)),
            "verification": self._with_verification,
        }

    def visit(self, query: dict[str, str], body: bytes) -> Visit:
        asked = json.loads(body)
        city, keyword = str(asked.get("S_SOU_WORK_CITY", "")), str(asked.get("S_SOU_FULL_INDEX", ""))
        return Visit(self.source, city, keyword, int(asked.get("pageIndex", 1)))

    def job_id(self, visit: Visit, place: int) -> str:
        number = int(digest("zhilian", visit.city, visit.keyword, visit.page, place)[:15], 16)
        return f"CC{number % 10**9:09}J40{number // 10**9 % 10**9:09}"

    def answer(self, visit: Visit, jobs: list[Any], shape: Shape) -> dict[str, Any]:
        data = {
            "count": shape.total,
            "isEndPage": int(visit.page >= shape.pages),
            "isVerification": 0,
            "taskId": "stand-in",
            "jobTypes": [],
            # An advertisement stands in each list that has jobs.
            "list": [*jobs[:1], ADVERTISEMENT, *jobs[1:]] if jobs else [],
        }
        return {"code": 200, "apiCode": 200, "message": "成功", "data": data}

    def job(self, visit: Visit, place: int) -> dict[str, Any]:
        number = self.job_id(visit, place)
        return {
            "jobId": place,
            "number": number,
            "name": f"{visit.keyword}工程师{visit.page}-{place}",
            "companyName": f"公司{place}",
            "companySize": "100-299人",
            "industryName": "软件/IT服务",
            "property": "民营",
            "financingStage": {"code": 1, "name": "A轮"},
            "salary60": f"{1 + place}-{2 + place}万",
            "salaryCount": "13薪",
            "workCity": "上海",
            "cityDistrict": "浦东新区",
            "streetName": "张江",
            "education": "本科",
            "workingExp": "3-5年",
            "publishTime": "2026-02-28 08:00:00",
            # Both spellings have been seen.
            "positionURL"
            if place % 2
            else "positionUrl": f"http://www.zhaopin.com/jobdetail/{number}.htm?refcode=4019",
            "jobSkillTags": [{"id": 1, "name": visit.keyword, "standard": True}],
            "welfareTagList": ["五险一金"],
            "staffCard": {"staffName": "示例", "hrJob": "招聘者"},
        }

    def _with_verification(self, visit: Visit, shape: Shape) -> Reply:
        content = self.answer(visit, [], shape)
        return as_json({**content, "data": {**content["data"], "isVerification": 1}})

    def _with_shrinking_total(self, visit: Visit, shape: Shape) -> Reply:
        # Its «end page» is no count, and stays right.
        content = self.answer(visit, self.jobs(visit, shape), shape)
        fewer = replace(shape, pages=max(1, shape.pages - visit.page + 1)).total
        return as_json({**content, "data": {**content["data"], "count": fewer}})

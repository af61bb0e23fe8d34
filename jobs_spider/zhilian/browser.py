"""Zhaopin's search page, for the browser way: result pages with a button to the next one."""

import json
from urllib.parse import urlsplit

from jobs_spider.search_page import Asked, Sent, Signs, page_number, with_query
from jobs_spider.zhilian.answers import CHECK_PLACES, LOGIN_PLACES, SOURCE


class ZhilianSearchPage:
    """Where Zhaopin's search is, what it asks its own server, and how a check or a login looks."""

    source = SOURCE
    next_button = ".soupager__btn:has-text('下一页')"
    check = Signs(CHECK_PLACES, "#TencentEOCaptcha, #tcaptcha_iframe, .geetest_panel")
    login = Signs(LOGIN_PLACES, ".zppp-dialog")

    def __init__(self, address: str, search_url: str) -> None:
        self._address = address
        self._search_path = urlsplit(search_url).path

    def address(self, city_code: str, job: str) -> str:
        return with_query(self._address, {"jl": city_code, "kw": job})

    def asked(self, sent: Sent) -> Asked | None:
        # POST alone: the browser first asks with OPTIONS whether the page may send it.
        if sent.path != self._search_path or sent.method != "POST":
            return None
        try:
            content = json.loads(sent.body or "")
        except ValueError:
            return None
        if not isinstance(content, dict):
            return None
        return Asked(str(content.get("S_SOU_FULL_INDEX", "")), page_number(content.get("pageIndex")))

"""Boss's search page, for the browser way: a list that grows as one scrolls."""

from urllib.parse import urlsplit

from jobs_spider.boss.answers import CHECK_PATHS, LOGIN_PATH, SOURCE
from jobs_spider.search_page import Asked, Sent, Signs, page_number, with_query


class BossSearchPage:
    """Where Boss's search is, what it asks its own server, and how a check or a login looks."""

    source = SOURCE
    next_button = None
    check = Signs(CHECK_PATHS, ".geetest_panel, .geetest_box")
    login = Signs((LOGIN_PATH,), ".boss-login-dialog")

    def __init__(self, address: str, search_url: str) -> None:
        self._address = address
        self._search_path = urlsplit(search_url).path

    def address(self, city_code: str, job: str) -> str:
        return with_query(self._address, {"query": job, "city": city_code})

    def asked(self, sent: Sent) -> Asked | None:
        if sent.path != self._search_path:
            return None
        return Asked(sent.query.get("query", ""), page_number(sent.query.get("page")))

"""51job's search page, for the browser way: result pages with a button to the next one."""

from urllib.parse import urlsplit

from jobs_spider.qcwy.answers import CHECK_PLACES, LOGIN_PLACES, SOURCE
from jobs_spider.search_page import Asked, Sent, Signs, page_number, with_query


class QcwySearchPage:
    """Where 51job's search is, what it asks its own server, and how a check or a login looks."""

    source = SOURCE
    next_button = ".el-pagination .btn-next"
    check = Signs(CHECK_PLACES, "#nocaptcha, .waf-nc-title, .nc_bg, .geetest_panel")
    login = Signs(LOGIN_PLACES, ".login-dialog")

    def __init__(self, address: str, search_url: str) -> None:
        self._address = address
        self._search_path = urlsplit(search_url).path

    def address(self, city_code: str, job: str) -> str:
        return with_query(self._address, {"keyword": job, "jobArea": city_code, "searchType": "2"})

    def asked(self, sent: Sent) -> Asked | None:
        if sent.path != self._search_path:
            return None
        return Asked(sent.query.get("keyword", ""), page_number(sent.query.get("pageNum")))

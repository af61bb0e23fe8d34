"""What the browser way knows of search pages, without a browser: addresses, requests, signs."""

import pytest

from jobs_spider.boss.browser import BossSearchPage
from jobs_spider.qcwy.browser import QcwySearchPage
from jobs_spider.search_page import Asked, SearchPage, Sent, with_query
from jobs_spider.zhilian.browser import ZhilianSearchPage

BOSS_API = "https://www.zhipin.com/wapi/zpgeek/search/joblist.json"


@pytest.fixture
def boss() -> BossSearchPage:
    return BossSearchPage("https://www.zhipin.com/web/geek/jobs", BOSS_API)


@pytest.mark.parametrize(
    ("job", "encoded"),
    [("C++", "C%2B%2B"), ("C#", "C%23"), ("R&D 100%", "R%26D+100%25"), ("UI/UX", "UI%2FUX"), ("😀", "%F0%9F%98%80")],
)
def test_a_keyword_reaches_the_search_page_byte_for_byte(boss: BossSearchPage, job: str, encoded: str) -> None:
    assert boss.address("101020100", job) == f"https://www.zhipin.com/web/geek/jobs?query={encoded}&city=101020100"


def test_an_address_keeps_the_parameters_that_the_operator_gave_it() -> None:
    assert with_query("https://x.example/?a=1", {"q": "ä"}) == "https://x.example/?a=1&q=%C3%A4"


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        (f"{BOSS_API}?scene=1&query=C%2B%2B&city=1&page=3", Asked("C++", 3)),
        (f"{BOSS_API}?query=Python", Asked("Python", 1)),
        (f"{BOSS_API}?query=Python&page=", Asked("Python", 1)),
        (f"{BOSS_API}?page=2", Asked("", 2)),
        ("https://www.zhipin.com/wapi/zpgeek/pc/recommend/job/list.json?page=1", None),
        ("https://www.zhipin.com/web/geek/jobs?query=Python&page=1", None),
    ],
)
def test_a_search_request_is_told_from_the_pages_other_requests(
    boss: BossSearchPage, url: str, asked: Asked | None
) -> None:
    assert boss.asked(Sent("GET", url)) == asked


@pytest.mark.parametrize(
    ("address", "check", "login"),
    [
        ("https://www.zhipin.com/web/geek/jobs?query=verify&salary=403", False, False),
        ("https://www.zhipin.com/web/geek/jobs?query=登录", False, False),
        ("https://www.zhipin.com/web/common/security-check.html?seed=x", True, False),
        ("https://www.zhipin.com/web/user/safe/verify-slider?callbackUrl=y", True, True),
        ("https://www.zhipin.com/web/user/?ka=header-login", False, True),
        ("about:blank", False, False),
    ],
)
def test_a_check_or_a_login_is_known_by_its_place(boss: BossSearchPage, address: str, check: bool, login: bool) -> None:
    assert (boss.check.place(address) is not None, boss.login.place(address) is not None) == (check, login)


QCWY_API = "https://we.51job.com/api/job/search-pc"
ZHILIAN_API = "https://fe-api.zhaopin.com/c/i/search/positions"
QCWY = QcwySearchPage("https://we.51job.com/pc/search", QCWY_API)
ZHILIAN = ZhilianSearchPage("https://www.zhaopin.com/sou/", ZHILIAN_API)


def test_a_keyword_reaches_the_other_boards_search_pages_byte_for_byte() -> None:
    encoded = "R%26D+C%2B%2B"
    assert QCWY.address("010000", "R&D C++") == (
        f"https://we.51job.com/pc/search?keyword={encoded}&jobArea=010000&searchType=2"
    )
    assert ZHILIAN.address("530", "R&D C++") == f"https://www.zhaopin.com/sou/?jl=530&kw={encoded}"


@pytest.mark.parametrize(
    ("page", "sent", "asked"),
    [
        (QCWY, Sent("GET", f"{QCWY_API}?keyword=C%2B%2B&pageNum=3"), Asked("C++", 3)),
        (QCWY, Sent("GET", f"{QCWY_API}?keyword=Go"), Asked("Go", 1)),
        (QCWY, Sent("GET", "https://we.51job.com/api/job/recommend?keyword=Go"), None),
        (ZHILIAN, Sent("POST", ZHILIAN_API, '{"S_SOU_FULL_INDEX": "C++", "pageIndex": 2}'), Asked("C++", 2)),
        (ZHILIAN, Sent("POST", f"{ZHILIAN_API}?at=1", '{"S_SOU_FULL_INDEX": "C++"}'), Asked("C++", 1)),
        # The browser's own question whether the page may ask.
        (ZHILIAN, Sent("OPTIONS", ZHILIAN_API), None),
        (ZHILIAN, Sent("POST", ZHILIAN_API, "not JSON"), None),
        (ZHILIAN, Sent("POST", ZHILIAN_API, "[]"), None),
        (ZHILIAN, Sent("POST", ZHILIAN_API), None),
        (ZHILIAN, Sent("POST", "https://fe-api.zhaopin.com/c/i/other", "{}"), None),
    ],
)
def test_the_other_boards_search_requests_are_told_from_the_rest(
    page: SearchPage, sent: Sent, asked: Asked | None
) -> None:
    assert page.asked(sent) == asked


@pytest.mark.parametrize(
    ("page", "address", "check", "login"),
    [
        (QCWY, "https://we.51job.com/pc/search?keyword=verify", False, False),
        (QCWY, "https://we.51job.com/_____tmd_____/punish?x5secdata=1", True, False),
        (QCWY, "https://login.51job.com/login.php", False, True),
        (ZHILIAN, "https://www.zhaopin.com/sou/?kw=captcha", False, False),
        (ZHILIAN, "https://passport.zhaopin.com/login?bkUrl=x", False, True),
    ],
)
def test_the_other_boards_checks_and_logins_are_known_by_their_places(
    page: SearchPage, address: str, check: bool, login: bool
) -> None:
    assert (page.check.place(address) is not None, page.login.place(address) is not None) == (check, login)

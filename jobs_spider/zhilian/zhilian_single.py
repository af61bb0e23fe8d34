"""The Zhaopin spider: how a page is asked for, and the start file (`python jobs_spider/zhilian/zhilian_single.py`)."""

import sys
from pathlib import Path
from uuid import uuid4

if not __package__:
    # Started as a file: Python then looks for modules in this folder instead of the project's.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import typer
from pydantic import AnyHttpUrl, Field
from pydantic_settings import SettingsConfigDict

from jobs_spider.board import Answer, Page
from jobs_spider.board_session import BoardSession
from jobs_spider.command import EXIT_CODES, BaseUrl, MaxKeywords, Once, Workers, crawl_board
from jobs_spider.kinds import BoardKind
from jobs_spider.search_board import SearchBoard
from jobs_spider.settings import BoardSettings, SpiderSettings
from jobs_spider.timekeeper import Timekeeper
from jobs_spider.zhilian.answers import MOST_PAGES, SOURCE, read_page
from jobs_spider.zhilian.browser import ZhilianSearchPage

COOKIE_DOMAIN = "zhaopin.com"
HEADERS = {
    "Accept": "application/json, text/plain, */*",
    "Origin": "https://www.zhaopin.com",
    "Referer": "https://www.zhaopin.com/",
    "x-zp-platform": "13",
    "x-zp-business-system": "1",
    "x-zp-page-code": "4019",
}
# What a visitor without a login sends besides keyword, city and page.
VISITOR: dict[str, object] = {
    "order": 4,
    "eventScenario": "pcSearchedSouSearch",
    "anonymous": 1,
    "clickFilterBlackCompany": False,
    "platform": 13,
    "version": "0.0.0",
}


class ZhilianSettings(BoardSettings):
    """What can be set for Zhaopin."""

    model_config = SettingsConfigDict(env_prefix="ZHILIAN_")

    search_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://fe-api.zhaopin.com/c/i/search/positions"), description="Address of Zhaopin's search."
    )
    search_page_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://www.zhaopin.com/sou/"), description="Address of Zhaopin's search page, for the browser way."
    )
    page_size: int = Field(20, ge=1, le=20, description="Jobs to ask for on a page; Zhaopin cuts more to 20.")
    page_limit: int = Field(
        15, ge=1, le=MOST_PAGES, description="Pages to crawl of a keyword; Zhaopin shows no more than 50."
    )

    def read(self, answer: Answer, page: int) -> Page:
        """The page in an answer of the search, whichever way it came."""
        return read_page(answer, page, self.page_size)


class ZhilianBoard(SearchBoard[ZhilianSettings]):
    """Zhaopin as the loop sees it."""

    def __init__(self, settings: ZhilianSettings, spider: SpiderSettings, timekeeper: Timekeeper) -> None:
        search_page = ZhilianSearchPage(str(settings.search_page_url), str(settings.search_url))
        super().__init__(search_page, RequestSearch, settings, spider, timekeeper)


class RequestSearch:
    """Zhaopin's search, asked by requests of our own."""

    def __init__(self, settings: ZhilianSettings, spider: SpiderSettings, _timekeeper: Timekeeper) -> None:
        self._settings = settings
        self._session = BoardSession(settings, spider, settings.read_cookies(COOKIE_DOMAIN))

    def page(self, city_code: str, job: str, number: int) -> Page:
        search: dict[str, object] = {"S_SOU_FULL_INDEX": job, "S_SOU_WORK_CITY": city_code}
        place: dict[str, object] = {"pageSize": self._settings.page_size, "pageIndex": number}
        content = search | VISITOR | {"actionid": str(uuid4())} | place
        return self._settings.read(self._session.post(str(self._settings.search_url), content, HEADERS), number)

    def close(self) -> None:
        self._session.close()


KIND = BoardKind(SOURCE, COOKIE_DOMAIN, ZhilianSettings, ZhilianBoard)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def crawl(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl 智联招聘 keywords that the service hands out. All else is set by SPIDER_… and ZHILIAN_… variables."""
    raise typer.Exit(crawl_board(KIND, once, max_keywords, base_url, workers))


if __name__ == "__main__":
    app()

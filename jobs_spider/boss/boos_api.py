"""The Boss spider: how a page is asked for, and the start file (`python jobs_spider/boss/boos_api.py`)."""

import sys
from pathlib import Path
from urllib.parse import urlencode

if not __package__:
    # Started as a file: Python then looks for modules in this folder instead of the project's.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import typer
from pydantic import AnyHttpUrl, Field
from pydantic_settings import SettingsConfigDict

from jobs_spider.board import Answer, Page
from jobs_spider.board_session import BoardSession
from jobs_spider.boss.answers import MOST_PAGES, SOURCE, read_page
from jobs_spider.boss.browser import BossSearchPage
from jobs_spider.command import EXIT_CODES, BaseUrl, MaxKeywords, Once, Workers, crawl_board
from jobs_spider.kinds import BoardKind
from jobs_spider.search_board import SearchBoard
from jobs_spider.settings import BoardSettings, SpiderSettings
from jobs_spider.timekeeper import Timekeeper

COOKIE_DOMAIN = "zhipin.com"
REFERER = "https://www.zhipin.com/web/geek/jobs"


class BossSettings(BoardSettings):
    """What can be set for Boss."""

    model_config = SettingsConfigDict(env_prefix="BOSS_")
    without_login = "Boss hides the salaries, and soon everything"

    search_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://www.zhipin.com/wapi/zpgeek/search/joblist.json"), description="Address of Boss's search."
    )
    search_page_url: AnyHttpUrl = Field(
        AnyHttpUrl(REFERER), description="Address of Boss's search page, for the browser way."
    )
    page_size: int = Field(15, ge=1, le=45, description="Jobs to ask for on a page; Boss may ignore it.")
    page_limit: int = Field(
        3, ge=1, le=MOST_PAGES, description="Pages to crawl of a keyword; Boss shows no more than 10."
    )

    def read(self, answer: Answer, page: int) -> Page:
        """The page in an answer of the search, whichever way it came."""
        return read_page(answer, self.page_size)


class BossBoard(SearchBoard[BossSettings]):
    """Boss as the loop sees it."""

    def __init__(self, settings: BossSettings, spider: SpiderSettings, timekeeper: Timekeeper) -> None:
        search_page = BossSearchPage(str(settings.search_page_url), str(settings.search_url))
        super().__init__(search_page, RequestSearch, settings, spider, timekeeper)


class RequestSearch:
    """Boss's search, asked by requests of our own."""

    def __init__(self, settings: BossSettings, spider: SpiderSettings, _timekeeper: Timekeeper) -> None:
        self._settings = settings
        self._session = BoardSession(settings, spider, settings.read_cookies(COOKIE_DOMAIN))

    def page(self, city_code: str, job: str, number: int) -> Page:
        search = {"query": job, "city": city_code}
        answer = self._session.get(
            str(self._settings.search_url),
            # As a mapping, so that `C++` reaches the board as C%2B%2B.
            params={"scene": "1", **search, "page": str(number), "pageSize": str(self._settings.page_size)},
            headers={
                "Accept": "application/json, text/plain, */*",
                "Referer": f"{REFERER}?{urlencode(search)}",
                "X-Requested-With": "XMLHttpRequest",
            },
        )
        return self._settings.read(answer, number)

    def close(self) -> None:
        self._session.close()


KIND = BoardKind(SOURCE, COOKIE_DOMAIN, BossSettings, BossBoard)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def crawl(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl Boss 直聘 keywords that the service hands out. Everything else is set by SPIDER_… and BOSS_… variables."""
    raise typer.Exit(crawl_board(KIND, once, max_keywords, base_url, workers))


if __name__ == "__main__":
    app()

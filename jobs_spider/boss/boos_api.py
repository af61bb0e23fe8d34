"""The Boss spider: how a page is asked for, and the start file (`python jobs_spider/boss/boos_api.py`)."""

import logging
import sys
from pathlib import Path
from urllib.parse import urlencode

if not __package__:
    # Started as a file: Python then looks for modules in this folder instead of the project's.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

import typer
from pydantic import AnyHttpUrl, Field
from pydantic_settings import SettingsConfigDict

from jobs_spider.board import Page
from jobs_spider.board_session import BoardSession
from jobs_spider.boss.answers import MOST_PAGES, SOURCE, read_page
from jobs_spider.cities import CityTable
from jobs_spider.command import EXIT_CODES, BaseUrl, MaxKeywords, Once, Workers, crawl_board
from jobs_spider.kinds import BoardKind
from jobs_spider.settings import BoardSettings, SpiderSettings

log = logging.getLogger(__name__)

COOKIE_DOMAIN = "zhipin.com"
REFERER = "https://www.zhipin.com/web/geek/jobs"


class BossSettings(BoardSettings):
    """What can be set for Boss."""

    model_config = SettingsConfigDict(env_prefix="BOSS_")

    search_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://www.zhipin.com/wapi/zpgeek/search/joblist.json"), description="Address of Boss's search."
    )
    page_size: int = Field(15, ge=1, le=45, description="Jobs to ask for on a page; Boss may ignore it.")
    page_limit: int = Field(
        3, ge=1, le=MOST_PAGES, description="Pages to crawl of a keyword; Boss shows no more than 10."
    )


class BossBoard:
    """Boss as the loop sees it."""

    source = SOURCE

    def __init__(self, settings: BossSettings, spider: SpiderSettings) -> None:
        self._settings = settings
        self.page_limit = settings.page_limit
        self._cities = CityTable(SOURCE)
        cookies = settings.read_cookies(COOKIE_DOMAIN)
        if not cookies:
            log.warning("no cookies are set (BOSS_COOKIE, BOSS_COOKIE_FILE): Boss hides the salaries without a login")
        self._session = BoardSession(settings, spider, cookies)

    def fetch_page(self, city: str, job: str, page: int) -> Page:
        search = {"query": job, "city": self._cities.code(city)}
        answer = self._session.get(
            str(self._settings.search_url),
            # As a mapping, so that `C++` reaches the board as C%2B%2B.
            params={"scene": "1", **search, "page": str(page), "pageSize": str(self._settings.page_size)},
            headers={
                "Accept": "application/json, text/plain, */*",
                "Referer": f"{REFERER}?{urlencode(search)}",
                "X-Requested-With": "XMLHttpRequest",
            },
        )
        return read_page(answer, self._settings.page_size)


KIND = BoardKind(SOURCE, COOKIE_DOMAIN, BossSettings, BossBoard)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def crawl(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl Boss 直聘 keywords that the service hands out. Everything else is set by SPIDER_… and BOSS_… variables."""
    raise typer.Exit(crawl_board(KIND, once, max_keywords, base_url, workers))


if __name__ == "__main__":
    app()

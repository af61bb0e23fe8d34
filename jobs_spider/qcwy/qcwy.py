"""The 51job spider: how a page is asked for, and the start file (`python jobs_spider/qcwy/qcwy.py`)."""

import sys
from pathlib import Path

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
from jobs_spider.qcwy.answers import MOST_PAGES, SOURCE, read_page
from jobs_spider.qcwy.browser import QcwySearchPage
from jobs_spider.search_board import SearchBoard
from jobs_spider.settings import BoardSettings, SpiderSettings
from jobs_spider.timekeeper import Timekeeper

COOKIE_DOMAIN = "51job.com"
SITE = "https://we.51job.com/"
# What the site's own search sends besides keyword, city and page. Its filters stay empty.
FIXED = {"api_key": "51job", "searchType": "2", "sortType": "0", "source": "1", "scene": "7"}
FILTERS = (
    "function", "industry", "jobArea2", "landmark", "metro", "salary", "workYear", "degree", "companyType",
    "companySize", "jobType", "issueDate", "requestId", "keywordType", "accountId",
)  # fmt: skip
PAGE_CODE = "sou|sou|soulb"


class QcwySettings(BoardSettings):
    """What can be set for 51job."""

    model_config = SettingsConfigDict(env_prefix="QCWY_")
    without_login = "51job may show no more than the first page"

    search_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://we.51job.com/api/job/search-pc"), description="Address of 51job's search."
    )
    search_page_url: AnyHttpUrl = Field(
        AnyHttpUrl("https://we.51job.com/pc/search"), description="Address of 51job's search page, for the browser way."
    )
    page_size: int = Field(20, ge=1, le=50, description="Jobs to ask for on a page; 51job may cut it to 20.")
    page_limit: int = Field(
        50, ge=1, le=MOST_PAGES, description="Pages to crawl of a keyword; 51job shows no more than 50."
    )

    def read(self, answer: Answer, page: int) -> Page:
        """The page in an answer of the search, whichever way it came."""
        return read_page(answer, page, self.page_size)


class QcwyBoard(SearchBoard[QcwySettings]):
    """51job as the loop sees it."""

    def __init__(self, settings: QcwySettings, spider: SpiderSettings, timekeeper: Timekeeper) -> None:
        search_page = QcwySearchPage(str(settings.search_page_url), str(settings.search_url))
        super().__init__(search_page, RequestSearch, settings, spider, timekeeper)


class RequestSearch:
    """51job's search, asked by requests of our own."""

    def __init__(self, settings: QcwySettings, spider: SpiderSettings, timekeeper: Timekeeper) -> None:
        self._settings = settings
        self._time = timekeeper
        self._session = BoardSession(settings, spider, settings.read_cookies(COOKIE_DOMAIN))

    def page(self, city_code: str, job: str, number: int) -> Page:
        timestamp = str(int(self._time.now().timestamp()))
        asked = {"timestamp": timestamp, "keyword": job, "jobArea": city_code, "pageNum": str(number)}
        answer = self._session.get(
            str(self._settings.search_url),
            # As a mapping, so that `C++` reaches the board as C%2B%2B.
            params=FIXED
            | asked
            | dict.fromkeys(FILTERS, "")
            | {"pageSize": str(self._settings.page_size), "pageCode": PAGE_CODE},
            headers={"Accept": "application/json", "Referer": SITE, "From-Domain": "51job_web"},
        )
        return self._settings.read(answer, number)

    def close(self) -> None:
        self._session.close()


KIND = BoardKind(SOURCE, COOKIE_DOMAIN, QcwySettings, QcwyBoard)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EXIT_CODES)
def crawl(once: Once = False, max_keywords: MaxKeywords = None, base_url: BaseUrl = None, workers: Workers = 1) -> None:
    """Crawl 前程无忧 (51job) keywords that the service hands out. All else is set by SPIDER_… and QCWY_… variables."""
    raise typer.Exit(crawl_board(KIND, once, max_keywords, base_url, workers))


if __name__ == "__main__":
    app()

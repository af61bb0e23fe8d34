"""What all boards share: the city table, and the two ways to a result page, of which a setting chooses one."""

from collections.abc import Callable
from typing import Generic, TypeVar

from jobs_spider.board import Page, Search
from jobs_spider.browser_search import search_in_browser
from jobs_spider.cities import CityTable
from jobs_spider.search_page import SearchPage
from jobs_spider.settings import BoardSettings, SpiderSettings
from jobs_spider.timekeeper import Timekeeper

S = TypeVar("S", bound=BoardSettings)


class SearchBoard(Generic[S]):
    """A board as the loop sees it."""

    def __init__(
        self,
        search_page: SearchPage,
        requests_way: Callable[[S, SpiderSettings, Timekeeper], Search],
        settings: S,
        spider: SpiderSettings,
        timekeeper: Timekeeper,
    ) -> None:
        self.source = search_page.source
        self.page_limit = settings.page_limit
        self._cities = CityTable(self.source)
        self._search: Search
        if settings.fetch == "browser":
            self._search = search_in_browser(search_page, settings.read, spider, timekeeper)
        else:
            self._search = requests_way(settings, spider, timekeeper)

    def fetch_page(self, city: str, job: str, page: int) -> Page:
        """Ask the board once for one page and read it, or raise a CrawlProblem."""
        return self._search.page(self._cities.code(city), job, page)

    def close(self) -> None:
        """Let go of what it fetches with."""
        self._search.close()

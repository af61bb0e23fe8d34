"""The operator's own browser, through Playwright: attached to over CDP, or opened with a profile folder.

Nothing is disguised: the browser says that it is automated, as Playwright has it say.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Error, Page, Playwright, Request, TimeoutError, sync_playwright

from jobs_spider.board import Answer, Unreachable
from jobs_spider.browser_search import Heard
from jobs_spider.search_page import Asked, Sent, Signs
from jobs_spider.settings import BrowserSettings

LISTEN_MILLISECONDS = 100
CLICK_MILLISECONDS = 2_000
# A little up again at the end of the page: a list that waits for a scroll would else never hear of another one.
SCROLL = """() => {
  const end = window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2;
  window.scrollBy(0, end ? -200 : 0.8 * window.innerHeight);
}"""


class BrowserWindow:
    """One window (or tab) of the browser, opened when it is first needed and again when it is gone."""

    def __init__(self, settings: BrowserSettings, asked: Callable[[Sent], Asked | None]) -> None:
        self._settings = settings
        self._asked = asked
        self._milliseconds = settings.answer_wait_seconds * 1000
        self._playwright: Playwright | None = None
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._heard: list[Heard] = []
        self._finished: list[tuple[Asked, Request]] = []

    def open(self, address: str) -> int:
        page = self._living_page()
        self._heard.clear()
        self._finished.clear()
        with self._told_if_gone():
            # Not until the page has loaded: its script may at once lead on to a check.
            answer = page.goto(address, wait_until="commit", timeout=self._milliseconds)
        return answer.status if answer else 200

    def go_on(self, next_button: str | None) -> None:
        page = self._living_page()
        with self._told_if_gone():
            try:
                if next_button:
                    page.locator(next_button).first.click(timeout=CLICK_MILLISECONDS)
                else:
                    page.evaluate(SCROLL)
            except TimeoutError:
                # Not there or covered, by a check perhaps: who waits for the page sees that, or loses patience.
                pass

    def listen(self) -> list[Heard]:
        page = self._living_page()
        with self._told_if_gone():
            # Events arrive only while Playwright is at work.
            page.wait_for_timeout(LISTEN_MILLISECONDS)
        finished, self._finished = self._finished, []
        heard, self._heard = self._heard, []
        return heard + [_read(asked, request) for asked, request in finished]

    def sees(self, signs: Signs) -> str | None:
        page = self._living_page()
        if place := signs.place(page.url):
            return place
        try:
            in_sight = page.locator(signs.elements).filter(visible=True).count()
        except Error:
            # The page is being left just now; the next look tells.
            return None
        return f"{signs.elements} in sight" if in_sight else None

    def close(self) -> None:
        playwright, self._playwright = self._playwright, None
        page, context = self._page, self._context
        self._page = self._context = None
        if not playwright:
            return
        try:
            if self._settings.cdp_url and page:
                page.close()
            elif context:
                # Closed, not killed, so that the profile keeps the login.
                context.close()
        except Error:
            # The person was faster.
            pass
        playwright.stop()

    def _living_page(self) -> Page:
        if self._page is None or self._page.is_closed():
            self.close()
            self._page = self._new_page()
            self._page.on("request", self._note_sent)
            self._page.on("requestfinished", self._note_finished)
            self._page.on("requestfailed", self._note_failed)
        return self._page

    def _new_page(self) -> Page:
        self._playwright = sync_playwright().start()
        where = "BROWSER_CDP_URL" if self._settings.cdp_url else "BROWSER_PROFILE_DIR and BROWSER_EXECUTABLE"
        try:
            if self._settings.cdp_url:
                url = str(self._settings.cdp_url)
                browser = self._playwright.chromium.connect_over_cdp(url, timeout=self._milliseconds)
                self._context = browser.contexts[0]
                return self._context.new_page()
            self._context = self._launch(self._playwright)
            return self._context.pages[0] if self._context.pages else self._context.new_page()
        except Error as error:
            self.close()
            raise Unreachable(f"no browser ({_short(error)}). Check {where}; a profile serves one browser.") from None

    def _launch(self, playwright: Playwright) -> BrowserContext:
        return playwright.chromium.launch_persistent_context(
            self._settings.profile_dir,
            executable_path=self._settings.executable,
            channel=None if self._settings.executable else "chrome",
            headless=self._settings.headless,
            args=self._settings.arguments,
            # The window keeps its own size, and its sandbox: it shows pages from outside.
            no_viewport=True,
            chromium_sandbox=True,
            # The spider's own handlers finish the page first.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=self._milliseconds,
        )

    @contextmanager
    def _told_if_gone(self) -> Iterator[None]:
        try:
            yield
        except Error as error:
            raise Unreachable(f"the browser's window does not get on ({_short(error)}). Look at it.") from None

    def _note_sent(self, request: Request) -> None:
        if asked := self._asked(_sent(request)):
            self._heard.append(Heard(asked))

    def _note_finished(self, request: Request) -> None:
        if asked := self._asked(_sent(request)):
            self._finished.append((asked, request))

    def _note_failed(self, request: Request) -> None:
        asked, failure = self._asked(_sent(request)), request.failure or "failed"
        # Aborted: the page went elsewhere meanwhile, which is seen by itself.
        if asked and "ERR_ABORTED" not in failure:
            self._heard.append(Heard(asked, failure=failure))


def _sent(request: Request) -> Sent:
    body = request.post_data_buffer
    return Sent(request.method, request.url, body.decode(errors="replace") if body else None)


def _read(asked: Asked, request: Request) -> Heard:
    try:
        response = request.response()
        if response is None:
            return Heard(asked, failure="no answer")
        location = response.headers.get("location")
        body = b"" if location else response.body()
        content_type = response.headers.get("content-type", "")
        return Heard(asked, Answer(response.status, location or response.url, body, content_type))
    except Error as error:
        # The browser forgets a body when the page is left.
        return Heard(asked, failure=_short(error))


def _short(error: Error) -> str:
    """Chromium's own name of the error, or the error's first words: the whole text quotes addresses and a log."""
    code = re.search(r"net::\w+", error.message)
    first_line = error.message.partition("\n")[0]
    return code[0] if code else first_line.partition(": ")[2][:80] or type(error).__name__

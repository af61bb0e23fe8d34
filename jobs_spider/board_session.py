"""A board's HTTP session: the operator's headers and cookies, one request at a time, nothing repeated by itself."""

import json
from typing import Any

import requests

from jobs_spider.board import Answer, Unreachable
from jobs_spider.settings import BoardSettings, SpiderSettings


class BoardSession:
    """Keeps the cookies that the board renews, as a browser would."""

    def __init__(self, board: BoardSettings, spider: SpiderSettings, cookies: dict[str, str]) -> None:
        self._timeout = (spider.connect_timeout_seconds, spider.read_timeout_seconds)
        self._own_headers = board.headers
        self._session = requests.Session()
        self._session.headers["User-Agent"] = board.user_agent
        self._session.cookies.update(cookies)

    def close(self) -> None:
        self._session.close()

    def get(self, url: str, params: dict[str, str], headers: dict[str, str]) -> Answer:
        return self._ask("GET", url, headers, params=params)

    def post(self, url: str, content: dict[str, object], headers: dict[str, str]) -> Answer:
        """Send this as JSON, in the characters themselves and not in escapes, as a browser does."""
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        return self._ask("POST", url, {"Content-Type": "application/json;charset=UTF-8"} | headers, data=body)

    def _ask(self, method: str, url: str, headers: dict[str, str], **content: Any) -> Answer:
        try:
            # Redirects are read, not followed: they lead to a check or a login page, and one more request without
            # its script is what turns a check into a block.
            answer = self._session.request(
                method,
                url,
                headers=headers | self._own_headers,
                timeout=self._timeout,
                allow_redirects=False,
                **content,
            )
        except requests.RequestException as error:
            raise Unreachable(f"the board gave no answer ({type(error).__name__}). Check the network.") from error
        self._forget_renewed(answer)
        where = answer.headers.get("Location", answer.url)
        return Answer(answer.status_code, where, answer.content, answer.headers.get("Content-Type", ""))

    def _forget_renewed(self, answer: requests.Response) -> None:
        """Drop the operator's cookie that the board has just renewed, or both would be sent from now on."""
        for name in answer.cookies.keys():  # noqa: SIM118 (a jar iterates over cookies, not names)
            if ("", name) in {(cookie.domain, cookie.name) for cookie in self._session.cookies}:
                self._session.cookies.clear(domain="", path="/", name=name)

"""Random days of a source: what spiders, operators and time do to it, on the real service and on the model at once.

After each step every keyword, the counts of the day and the history of the past ones are the model's.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.stateful.model import Keyword, Model, Refused
from tests.stateful.service import SteppedService

CRAWLERS = ("ann", "ben", "cem")
STEPS_OF_TIME = (1, 30, 299, 600, 1799, 1800, 1801, 2400, 3600, 7200, 30_000, 43_200, 86_400, 3 * 86_400)
REASONS = ("stopped", "restarted", "login", "network", "other")
WRONG_TOKEN = "not-the-token"

crawlers = st.sampled_from(CRAWLERS)
# Which of the keywords; taken modulo how many there are.
choices = st.integers(0, 1000)
proofs = st.sampled_from(["token"] * 3 + ["token and crawler", "crawler", "nothing", "old", "wrong", "stranger"])


def told(call: Callable[[], dict[str, Any]]) -> tuple[int, Any]:
    """What the model answers to a call."""
    try:
        return 200, call()
    except Refused as refused:
        return refused.answer


def agree(answer: tuple[int, Any], expected: tuple[int, Any]) -> None:
    """The service answers what the model does; it may say more beside it."""
    status, content = answer
    if status == 200 and expected[0] == 200:
        content = {name: content[name] for name in expected[1]}
    assert (status, content) == expected


class Day(RuleBasedStateMachine):
    """The service and the model, kept in step. `service` and `start` are set by the test that runs it."""

    service: ClassVar[SteppedService]
    zone: ClassVar[ZoneInfo]
    start: ClassVar[datetime]
    steps: ClassVar[int] = 0

    @initialize(jobs=st.integers(1, 4))
    def begin(self, jobs: int) -> None:
        self.service.forget_all()
        # UTC: sums of zoned times go by the clock on the wall, which summer time moves.
        self.model = Model(self.zone, self.start.astimezone(UTC))
        self.old_tokens: dict[int, str] = {}
        self.service.stop_clock_at(self.model.now)
        for _ in range(jobs):
            self.add()

    @rule()
    def add(self) -> None:
        if len(self.model.keywords) >= 8:
            return
        job = f"job {len(self.model.keywords)}"
        status, data = self.service.post("", city="北京", job=job)
        assert status == 201
        self.model.keywords[data["id"]] = Keyword(data["id"], job)

    @rule(seconds=st.sampled_from(STEPS_OF_TIME))
    def wait(self, seconds: int) -> None:
        self.model.now += timedelta(seconds=seconds)
        self.service.stop_clock_at(self.model.now)

    @rule()
    def wait_until_just_before_midnight(self) -> None:
        there = self.model.now.astimezone(self.zone)
        self.model.now = there.replace(hour=23, minute=59, second=59).astimezone(UTC)
        self.service.stop_clock_at(self.model.now)

    @rule(crawler=crawlers | st.none(), limit=st.integers(1, 5))
    def claim(self, crawler: str | None, limit: int) -> None:
        expected = [] if self.model.paused else self.model.claimable()[:limit]
        query = {"crawler_id": crawler} if crawler else {}
        shown = self.service.get("/available", limit=limit)
        assert [each["id"] for each in shown] == [keyword.id for keyword in expected]
        given = self.service.get("/available", limit=limit, reserve=True, **query)
        assert [each["id"] for each in given] == [keyword.id for keyword in expected]
        for answer, keyword in zip(given, expected, strict=True):
            self.old_tokens[keyword.id] = keyword.token
            told = self.model.claim(keyword, crawler, answer["claim_token"])
            assert {name: answer[name] for name in told} == told
            assert answer["claim_token"] not in (self.old_tokens[keyword.id], "")

    def keyword(self, choice: int) -> Keyword:
        keywords = list(self.model.keywords.values())
        return keywords[choice % len(keywords)]

    def proof(self, keyword: Keyword, kind: str) -> tuple[str | None, str | None]:
        """Token and crawler of a report: the right ones, none, those of an earlier claim, or somebody else's."""
        token = keyword.token or None
        known: dict[str, tuple[str | None, str | None]] = {
            "token": (token, None),
            "token and crawler": (token, keyword.crawler),
            "crawler": (None, keyword.crawler),
            "nothing": (None, None),
            "old": (self.old_tokens.get(keyword.id) or WRONG_TOKEN, None),
            "wrong": (WRONG_TOKEN, None),
            "stranger": (token, "dora"),
        }
        return known[kind]

    @rule(
        choice=choices, ahead=st.sampled_from([1, 1, 1, 2, 5, 0, -1, -9]), jobs=st.integers(0, 30),
        total=st.none() | st.integers(1, 9), kind=proofs,
    )  # fmt: skip
    def report_a_page(self, choice: int, ahead: int, jobs: int, total: int | None, kind: str) -> None:
        keyword = self.keyword(choice)
        token, crawler = self.proof(keyword, kind)
        page = max(1, keyword.page + ahead)
        answer = self.service.post(
            "/page-progress", keyword_id=keyword.id, page=page, jobs_found=jobs, total_pages=total,
            claim_token=token, crawler_id=crawler,
        )  # fmt: skip
        expected = told(lambda: self.model.progress(keyword, page, jobs, total, token, crawler))
        agree(answer, expected)
        if answer[0] == 200:
            assert answer[1]["should_stop"] == self.model.paused

    @rule(choice=choices, outcome=st.sampled_from(["completed", "failed", "failed"]), kind=proofs)
    def end(self, choice: int, outcome: str, kind: str) -> None:
        keyword = self.keyword(choice)
        token, crawler = self.proof(keyword, kind)
        answer = self.service.post(
            "/crawl-complete", keyword_id=keyword.id, status=outcome, claim_token=token, crawler_id=crawler
        )
        agree(answer, told(lambda: self.model.end(keyword, outcome, token, crawler)))

    @rule(choice=choices, kind=st.sampled_from(["token", "token", "old", "wrong"]))
    def heartbeat(self, choice: int, kind: str) -> None:
        keyword = self.keyword(choice)
        token = self.proof(keyword, kind)[0] or WRONG_TOKEN
        answer = self.service.post("/heartbeat", keyword_id=keyword.id, claim_token=token)
        agree(answer, told(lambda: {"renewed": self.model.heartbeat(keyword, token)}))

    @rule(crawler=crawlers)
    def heartbeat_of_a_crawler(self, crawler: str) -> None:
        answer = self.service.post("/heartbeat", crawler_id=crawler)
        agree(answer, told(lambda: {"renewed": self.model.heartbeat_of(crawler)}))

    @rule(choice=choices, reason=st.sampled_from(REASONS), kind=st.sampled_from(["token", "token", "old", "wrong"]))
    def release(self, choice: int, reason: str, kind: str) -> None:
        keyword = self.keyword(choice)
        token = self.proof(keyword, kind)[0] or WRONG_TOKEN
        answer = self.service.post("/release", keyword_id=keyword.id, claim_token=token, reason=reason)
        agree(answer, told(lambda: {"released": self.model.release(keyword, token, reason)}))

    @rule(crawler=crawlers, reason=st.sampled_from(REASONS))
    def release_of_a_crawler(self, crawler: str, reason: str) -> None:
        answer = self.service.post("/release", crawler_id=crawler, reason=reason)
        agree(answer, told(lambda: {"released": self.model.release_of(crawler, reason)}))

    @rule()
    def sweep(self) -> None:
        assert self.service.sweep() == self.model.sweep()

    @rule(choice=choices)
    def mark_used(self, choice: int) -> None:
        keyword = self.keyword(choice)
        before = keyword.token
        answer = self.service.post("/mark-used", keyword_id=keyword.id)
        token = self.service.tokens()[keyword.id]
        applied = self.model.mark_used(keyword, token)
        assert (answer[0], answer[1]["applied"]) == (200, applied)
        if applied:
            self.old_tokens[keyword.id] = before

    @rule()
    def pause(self) -> None:
        self.service.post("/pause")
        self.model.paused = True

    @precondition(lambda self: self.model.paused)
    @rule()
    def resume(self) -> None:
        self.service.post("/resume")
        self.model.paused = False

    @invariant()
    def every_keyword_is_the_models(self) -> None:
        type(self).steps += 1
        shown = {item["id"]: item for item in self.service.get("", limit=500)["items"]}
        assert shown.keys() == self.model.keywords.keys()
        for keyword in self.model.keywords.values():
            item = shown[keyword.id]
            seen = (item["status"], item["last_completed_page"], item["total_pages"], item["jobs_found"])
            assert seen == (self.model.state(keyword), keyword.page, keyword.total, keyword.jobs)
            assert (item["retry_count"], item["crawler_id"]) == (keyword.tries, keyword.crawler)
            assert 0 <= keyword.tries <= 3

    @invariant()
    def the_days_counts_add_up(self) -> None:
        stats = self.service.get("/stats")
        assert stats["crawl_status"] == self.model.stats()
        assert stats["used"] == sum(stats["crawl_status"].values())
        assert stats["used"] + stats["unused"] == stats["total"] == len(self.model.keywords)

    @invariant()
    def the_past_days_are_kept(self) -> None:
        assert self.service.history() == {(key, str(day)): kept for (key, day), kept in self.model.history.items()}

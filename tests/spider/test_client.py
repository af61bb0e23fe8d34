"""The calls to the service over real HTTP, and what each kind of trouble becomes."""

import pytest

from jobs_spider.client import (
    Claim,
    ClaimLost,
    KeyRefused,
    KeywordClient,
    NothingToDo,
    PageReport,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
    UnknownKeyword,
)
from jobs_spider.settings import SpiderSettings
from tests.spider.conftest import QuickTime
from tests.spider.service import Scripted, Service

PAGE = PageReport(page=1, total_pages=None, jobs_found=4)


def test_a_claim_names_the_source_and_the_crawler(client: KeywordClient, service: Service) -> None:
    service.add(job="C++ & C#", city="上海")
    claim = client.claim()
    assert isinstance(claim, Claim)
    assert (claim.job, claim.city) == ("C++ & C#", "上海")
    asked = {"source": "boss", "crawler_id": "spider-1", "limit": "1", "reserve": "true"}
    assert service.calls == [("available", asked)]


def test_a_claim_never_shows_its_token(claim: Claim) -> None:
    assert "secret-token" not in f"{claim} {claim!r}"
    assert str(claim) == "keyword=1 city='上海' job='Python'"


def test_an_empty_list_says_how_long_to_wait(client: KeywordClient) -> None:
    assert client.claim() == NothingToDo(7.0)


@pytest.mark.parametrize("header", [{}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {"Retry-After": "²"}])
def test_an_empty_list_without_seconds_names_no_time(
    client: KeywordClient, service: Service, header: dict[str, str]
) -> None:
    service.script("available", Scripted(status=200, headers=header, body={"data": []}))
    assert client.claim() == NothingToDo(None)


@pytest.mark.parametrize("scripted", [Scripted(status=503), Scripted("lost"), Scripted("reset"), Scripted(status=429)])
def test_a_claim_is_sent_only_once(client: KeywordClient, service: Service, scripted: Scripted) -> None:
    service.script("available", scripted)
    with pytest.raises(ServiceUnreachable):
        client.claim()
    assert service.names() == ["available"]


@pytest.mark.parametrize("body", [b"<html>", {"data": [{"id": "x", "claim_token": "secret-token"}]}, []])
def test_an_unreadable_claim_is_an_unknown_one_and_not_shown(
    client: KeywordClient, service: Service, body: object
) -> None:
    service.script("available", Scripted(status=200, body=body))
    with pytest.raises(ServiceUnreachable, match="unreadable") as caught:
        client.claim()
    assert "secret-token" not in str(caught.value)


@pytest.mark.parametrize(
    "scripted",
    [Scripted(status=status) for status in (429, 500, 502, 503, 504)] + [Scripted("lost"), Scripted("reset")],
)
def test_every_other_call_is_repeated(
    client: KeywordClient, claim: Claim, service: Service, scripted: Scripted
) -> None:
    service.script("page-progress", scripted, scripted)
    assert client.deliver(client.page_report(claim, PAGE)) is False
    assert service.names() == ["available", *["page-progress"] * 3]
    assert service.keywords[0].jobs_found == 4


def test_a_repeat_waits_as_long_as_the_service_asks_but_not_for_ever(
    client: KeywordClient, claim: Claim, service: Service, quick_time: QuickTime
) -> None:
    long, short = (Scripted(status=503, headers={"Retry-After": seconds}) for seconds in ("86400", "3"))
    service.script("page-progress", long, short)
    client.deliver(client.page_report(claim, PAGE))
    assert quick_time.waits == [30, 3]


def test_after_the_repeats_the_service_is_unreachable(client: KeywordClient, claim: Claim, service: Service) -> None:
    problem = {"type": "about:blank", "title": "Away", "status": 503, "detail": "the database is away"}
    service.script("page-progress", *[Scripted(status=503, headers={"Retry-After": "5"}, body=problem)] * 3)
    with pytest.raises(ServiceUnreachable, match="the database is away") as caught:
        client.deliver(client.page_report(claim, PAGE))
    assert caught.value.retry_after == 5


def test_a_service_that_is_not_there_is_unreachable(quick_time: QuickTime) -> None:
    with Service() as gone:
        settings = SpiderSettings.load(base_url=gone.url, service_retries=2)
    with pytest.raises(ServiceUnreachable):
        KeywordClient("boss", "spider-1", settings, quick_time).release_all("restarted")
    assert len(quick_time.waits) == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (409, ClaimLost),
        (404, UnknownKeyword),
        (422, ServiceRefused),
        (401, KeyRefused),
        (403, KeyRefused),
        (307, ServiceRefused),
    ],
)
def test_a_refusal_is_not_repeated_and_its_detail_told(
    client: KeywordClient, claim: Claim, service: Service, status: int, kind: type[ServiceError]
) -> None:
    problem = {"detail": "no such page", "errors": [{"pointer": "/page"}]}
    service.script("page-progress", Scripted(status=status, headers={"Location": "/elsewhere"}, body=problem))
    with pytest.raises(kind, match=f"HTTP {status} no such page .*/page"):
        client.deliver(client.page_report(claim, PAGE))
    assert service.names().count("page-progress") == 1


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b'{"title": "x"}', b"null"])
def test_a_refusal_without_a_problem_document_tells_its_status(
    client: KeywordClient, claim: Claim, service: Service, body: bytes
) -> None:
    service.script("page-progress", Scripted(status=422, body=body))
    with pytest.raises(ServiceRefused, match="HTTP 422 Unprocessable Entity"):
        client.deliver(client.page_report(claim, PAGE))


def test_reports_carry_the_claim(client: KeywordClient, claim: Claim, service: Service) -> None:
    client.deliver(client.page_report(claim, PageReport(2, 5, 15)))
    client.deliver(client.completion(claim, "failed", "unknown city"))
    proof = {"source": "boss", "crawler_id": "spider-1", "keyword_id": 1, "claim_token": "secret-token"}
    assert service.calls[1:] == [
        ("page-progress", {**proof, "page": 2, "total_pages": 5, "jobs_found": 15}),
        ("crawl-complete", {**proof, "status": "failed", "error_message": "unknown city"}),
    ]


def test_a_release_names_one_claim_or_the_crawler_and_never_both(
    client: KeywordClient, claim: Claim, service: Service
) -> None:
    client.deliver(client.giving_back(claim, "blocked", "code 37"))
    client.release_all("restarted")
    assert service.bodies("release") == [
        {
            "source": "boss",
            "keyword_id": 1,
            "claim_token": "secret-token",
            "reason": "blocked",
            "error_message": "code 37",
        },
        {"source": "boss", "crawler_id": "spider-1", "reason": "restarted"},
    ]


def test_should_stop_is_passed_on(client: KeywordClient, claim: Claim, service: Service) -> None:
    service.should_stop = True
    assert client.deliver(client.page_report(claim, PAGE)) is True


def test_an_address_below_a_path_is_kept(quick_time: QuickTime, service: Service) -> None:
    service.script("/jobs/api/v1/keyword/release", Scripted(status=200))
    settings = SpiderSettings.load(base_url=f"{service.url}/jobs/", service_retries=0)
    KeywordClient("boss", "spider-1", settings, quick_time).release_all("restarted")
    assert service.names() == ["/jobs/api/v1/keyword/release"]

"""Probes, the home page, and the description of the API."""

from typing import Any

import pytest

from tests.service.conftest import Api, by_hand

CALLS = {
    ("get", "/api/v1/keyword/available"),
    ("post", "/api/v1/keyword/page-progress"),
    ("post", "/api/v1/keyword/crawl-complete"),
    ("post", "/api/v1/keyword/heartbeat"),
    ("post", "/api/v1/keyword/release"),
    ("post", "/api/v1/keyword/mark-used"),
    ("get", "/api/v1/keyword/stats"),
    ("get", "/api/v1/keyword"),
    ("post", "/api/v1/keyword"),
    ("post", "/api/v1/keyword/bulk"),
    ("post", "/api/v1/keyword/pause"),
    ("post", "/api/v1/keyword/resume"),
    ("get", "/livez"),
    ("get", "/readyz"),
}


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_a_healthy_service_says_so(api: Api, path: str) -> None:
    answer = await api.raw.get(path)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_service_with_older_tables_lives_and_is_not_ready(api: Api) -> None:
    await by_hand("UPDATE aerich SET version = REPLACE(version, '1_', 'x1_') WHERE version LIKE '1_%'")
    try:
        answer = await api.raw.get("/readyz")
        assert (await api.raw.get("/livez")).status_code == 200
    finally:
        await by_hand("UPDATE aerich SET version = SUBSTR(version, 2) WHERE version LIKE 'x%'")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "aerich upgrade" in answer.json()["detail"]


async def test_the_home_page_leads_to_the_description(api: Api) -> None:
    answer = await api.raw.get("/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/docs")


@pytest.fixture
async def document(api: Api) -> dict[str, Any]:
    described: dict[str, Any] = (await api.raw.get("/openapi.json")).json()
    return described


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(method, path): each for path, methods in document["paths"].items() for method, each in methods.items()}


async def test_every_call_is_described(document: dict[str, Any]) -> None:
    assert set(operations(document)) >= CALLS


async def test_every_call_says_what_it_does_and_what_it_answers(document: dict[str, Any]) -> None:
    for call, operation in operations(document).items():
        assert operation["description"], call
        good = [response for status, response in operation["responses"].items() if status.startswith("2")]
        assert good, call
        for response in good:
            assert response["content"]["application/json"]["schema"].get("$ref"), call


async def test_every_error_is_described_as_a_problem_document(document: dict[str, Any]) -> None:
    for call, operation in operations(document).items():
        errors = {status: each for status, each in operation["responses"].items() if not status.startswith("2")}
        assert "503" in errors or call[1] == "/livez"
        for response in errors.values():
            assert list(response["content"]) == ["application/problem+json"], call


@pytest.mark.parametrize("call", ["page-progress", "crawl-complete", "heartbeat", "release"])
async def test_reports_say_that_a_claim_may_be_lost(document: dict[str, Any], call: str) -> None:
    responses = document["paths"][f"/api/v1/keyword/{call}"]["post"]["responses"]
    assert {"200", "404", "409", "422", "503"} <= set(responses)


async def test_the_keyword_of_an_answer_is_described_by_its_fields(document: dict[str, Any]) -> None:
    keyword = document["components"]["schemas"]["AvailableKeyword"]["properties"]
    assert set(keyword) == {
        "id", "city", "job", "last_completed_page", "total_pages", "crawl_status", "retry_count", "claim_token",
        "lease_expires_at",
    }  # fmt: skip

"""Input that is wrong gets 422 with the field named, and changes nothing; what a user would want cut is cut."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.api import json_body
from tests.service.conftest import Api, held

CALLS: dict[str, dict[str, Any]] = {
    "/page-progress": {"source": "boss", "keyword_id": 1, "page": 1},
    "/crawl-complete": {"source": "boss", "keyword_id": 1, "status": "failed"},
    "/heartbeat": {"source": "boss", "crawler_id": "spider"},
    "/release": {"source": "boss", "crawler_id": "spider"},
    "/mark-used": {"source": "boss", "keyword_id": 1},
    "": {"source": "boss", "city": "北京", "job": "python"},
    "/bulk": {"source": "boss", "keywords": [{"city": "北京", "job": "python"}]},
    "/pause": {"source": "boss"},
    "/resume": {"source": "boss"},
}
ALL_CALLS = pytest.mark.parametrize("call", CALLS)

WRONG_FIELDS: list[tuple[str, str, Any]] = [
    *((call, "source", value) for call in CALLS for value in ("lagou", "", "BOSS", None, 1, ["boss"], {"a": 1})),
    *(("/page-progress", "page", value) for value in (0, -1, 10**12, "x", "", 1.5, None, True, [1], 10**400)),
    *(("/page-progress", "total_pages", value) for value in (-1, 10**12, "x", 1.5, False)),
    *(("/page-progress", "jobs_found", value) for value in (-1, 10**12, "x", 1.5, None, True)),
    *(("/page-progress", "keyword_id", value) for value in (0, -1, 2**53, "x", 1.5, None, True)),
    *(("/page-progress", "claim_token", value) for value in ("", "  ", "a\x00b", "x" * 33, 5, ["a"])),
    *(("/page-progress", "crawler_id", value) for value in ("", "  ", "a\nb", "a\x00b", "x" * 101, "\ud800", 5)),
    *(("/crawl-complete", "status", value) for value in ("done", "partial", "", None, 1)),
    *(("/crawl-complete", "error_message", value) for value in (5, ["a"], {"a": 1})),
    *(("/release", "reason", value) for value in ("bored", "", None, 1)),
    *(("/heartbeat", "keyword_id", value) for value in (0, -1, 2**53, "x")),
    *(("/mark-used", "keyword_id", value) for value in (0, -1, 2**53, "x", None)),
    *(("", name, value) for name in ("city", "job") for value in ("", "  ", "\u3000", "x" * 256, "京" * 5000)),
    *(("", name, value) for name in ("city", "job") for value in ("a\x00b", "a\nb", "\x7f", "\ud800", None, 5, ["a"])),
    ("/bulk", "keywords", []),
    *(("/bulk", "keywords", value) for value in (None, "python", {"city": "北京"})),
    *(("/pause", "until", value) for value in ("tomorrow", "2026-03-02T12:00:00", "2026-13-01T00:00:00Z", "", True)),
    *(("/pause", "until", value) for value in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", 10**400)),
    *(("/pause", "reason", value) for value in ("x" * 1001, "a\x00b", None, 5)),
]

WRONG_QUERIES: list[tuple[str, str, str]] = [
    *((call, "source", value) for call in ("/available", "") for value in ("lagou", "", "BOSS", "boss\x00")),
    *(("/available", "limit", value) for value in ("0", "-1", "101", "x", "", "1.5", "1" * 5000)),
    *(("/available", "reserve", value) for value in ("perhaps", "", "2")),
    *(("/available", "crawler_id", value) for value in ("", " ", "x" * 101, "a\x00b")),
    *(("/stats", "source", value) for value in ("lagou", "")),
    *(
        ("/stats", "on_date", value)
        for value in ("2026-02-30", "yesterday", "", "2026-3-2", "10000-01-01", "0000-01-01")
    ),
    *(("", "status", value) for value in ("done", "", "IDLE")),
    *(("", "cursor", value) for value in ("", "-1", "x", "1.5", "1" * 19, "1;DROP", "0x1", " 1")),
    *(("", "limit", value) for value in ("0", "-1", "501", "x", "1" * 5000)),
    *(
        ("", name, "京" * (most + 1))
        for name, most in (("city", 255), ("job", 255), ("crawler_id", 100), ("error", 1000))
    ),
]

NOT_JSON: dict[str, bytes] = {
    "nothing": b"",
    "text": b"page=1&keyword_id=1",
    "cut off": b'{"source": "boss", "keyword_id": 1, "pa',
    "two documents": b'{"source": "boss"} {"source": "boss"}',
    "not UTF-8": '{"source": "boss", "city": "北京"}'.encode("gb18030"),
    "a lone byte": b"\xff",
    "NaN": b'{"source": "boss", "keyword_id": 1, "page": NaN}',
    "Infinity": b'{"source": "boss", "keyword_id": 1, "page": -Infinity}',
    "a number of 5,000 digits": b'{"source": "boss", "keyword_id": 1, "page": ' + b"1" * 5000 + b"}",
    "100,000 brackets": b"[" * 100_000,
    "100,000 closed brackets": b"[" * 100_000 + b"]" * 100_000,
    "100,000 objects": b'{"a":' * 100_000,
}

OTHER_THAN_AN_OBJECT: list[Any] = [[], [1], "boss", 5, True, None, [{"source": "boss"}]]


def wrong_fields(answer: httpx.Response) -> list[str]:
    """The pointers of a 422, after a look at its shape."""
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["type"], problem["title"], problem["status"]) == ("/problems/invalid-input", "Invalid input", 422)
    assert problem["detail"]
    return [error["pointer"] for error in problem["errors"]]


async def send(api: Api, call: str, body: Any) -> httpx.Response:
    # Not httpx's own `json`, which refuses lone surrogates and leaves out nothing else that is odd.
    return await api.raw.post(f"/api/v1/keyword{call}", content=json.dumps(body))


@pytest.mark.parametrize(("call", "field", "value"), WRONG_FIELDS)
async def test_a_wrong_field_is_named(api: Api, call: str, field: str, value: Any) -> None:
    answer = await send(api, call, {**CALLS[call], field: value})
    assert wrong_fields(answer) == [f"#/{field}"]


@pytest.mark.parametrize(("call", "field", "value"), WRONG_QUERIES)
async def test_a_wrong_query_parameter_is_named(api: Api, call: str, field: str, value: str) -> None:
    answer = await api.raw.get(f"/api/v1/keyword{call}", params={"source": "boss", field: value})
    assert wrong_fields(answer) == [f"#/{field}"]
    assert answer.json()["errors"][0]["location"] == "query"


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON)
@ALL_CALLS
async def test_what_is_not_json_is_refused(api: Api, call: str, content: bytes) -> None:
    answer = await api.raw.post(f"/api/v1/keyword{call}", content=content)
    assert wrong_fields(answer) == ["#/"]


@pytest.mark.parametrize("body", OTHER_THAN_AN_OBJECT)
@ALL_CALLS
async def test_a_body_that_is_no_object_is_refused(api: Api, call: str, body: Any) -> None:
    assert wrong_fields(await send(api, call, body)) == ["#/"]


@ALL_CALLS
async def test_every_missing_field_is_named(api: Api, call: str) -> None:
    missing = set(wrong_fields(await send(api, call, {})))
    needed = set(CALLS[call]) - {"crawler_id"}  # that one may be told in another way
    assert missing == {f"#/{field}" for field in needed}


async def test_a_query_without_a_source_names_it(api: Api) -> None:
    assert wrong_fields(await api.raw.get("/api/v1/keyword/available")) == ["#/source"]
    assert wrong_fields(await api.raw.get("/api/v1/keyword")) == ["#/source"]


async def test_all_wrong_fields_are_named_at_once(api: Api) -> None:
    answer = await send(api, "/page-progress", {"source": "lagou", "keyword_id": 0, "page": "x"})
    assert wrong_fields(answer) == ["#/source", "#/keyword_id", "#/page"]


async def test_a_wrong_name_among_many_is_named_by_its_place(api: Api) -> None:
    names = [{"city": "北京", "job": "python"}, {"city": "北京", "job": ""}, {"job": "java"}, 5]
    answer = await send(api, "/bulk", {"source": "boss", "keywords": names})
    assert wrong_fields(answer) == ["#/keywords/1/job", "#/keywords/2/city", "#/keywords/3"]
    assert (await api.stats())["total"] == 0


async def test_more_than_ten_thousand_names_at_once_are_refused(api: Api) -> None:
    names = [{"city": "北京", "job": str(number)} for number in range(10_001)]
    assert wrong_fields(await send(api, "/bulk", {"source": "boss", "keywords": names})) == ["#/keywords"]


@pytest.mark.parametrize("call", ["/heartbeat", "/release"])
@pytest.mark.parametrize("who", [{}, {"keyword_id": 1}, {"claim_token": "x"}, {"crawler_id": "a", "claim_token": "x"}])
async def test_a_call_that_names_no_claim_is_refused(api: Api, call: str, who: dict[str, Any]) -> None:
    answer = await send(api, call, {"source": "boss", **who})
    assert wrong_fields(answer) == ["#/"]
    assert "keyword_id" in answer.json()["detail"]


async def test_what_was_wrong_is_not_repeated(api: Api) -> None:
    answer = await send(api, "/page-progress", {"source": "my-secret", "keyword_id": 1, "page": "my-secret"})
    assert "my-secret" not in answer.text


async def test_a_refused_report_changes_nothing(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    before = await api.keyword(claim["id"])
    await send(api, "/page-progress", {"source": "boss", **held(claim), "page": 1, "jobs_found": -1})
    await send(api, "/crawl-complete", {"source": "boss", **held(claim), "status": "done"})
    assert await api.keyword(claim["id"]) == before


async def test_the_largest_and_smallest_good_values_are_taken(api: Api) -> None:
    await api.add("x" * 255, "😀" * 255, city="京" * 255)
    claims = await api.claim("爬" * 100, limit=2)
    await api.page(claims[0], 100_000, jobs=0, total_pages=0)
    assert await api.refused("/mark-used", keyword_id=2**53 - 1) == (404, "keyword-not-found")
    assert (await api.keyword(claims[1]["id"]))["job"] == "😀" * 255


@pytest.mark.parametrize("on_date", ["0001-01-01", "1970-01-01", "9999-12-31"])
async def test_every_day_of_the_calendar_may_be_asked_for(api: Api, on_date: str) -> None:
    assert (await api.stats(on_date=on_date))["date"] == on_date


# --- error messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("character", ["x", "错", "😀"])
async def test_a_message_of_a_megabyte_is_cut_to_a_thousand_whole_characters(api: Api, character: str) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.fail(claim, character * 1_000_000)
    assert (await api.keyword(claim["id"]))["error_message"] == character * 1000


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\x00b", "ab"),
        ("\x00" * 3, ""),
        ("half \ud83d of a pair", "half ? of a pair"),
        ("\udc00\ud800", "??"),
        ("two\nlines\t", "two\nlines"),
        ("  spaces  ", "spaces"),
        ("quote ' \" \\ % _ ; --", "quote ' \" \\ % _ ; --"),
    ],
)
async def test_a_message_of_odd_characters_is_kept_as_far_as_it_can_be(api: Api, sent: str, kept: str) -> None:
    await api.add("python")
    claim = await api.claim()
    answer = await send(
        api, "/crawl-complete", {"source": "boss", **held(claim), "status": "failed", "error_message": sent}
    )
    assert answer.status_code == 200
    assert (await api.keyword(claim["id"]))["error_message"] == kept


@pytest.mark.parametrize("reason", ["blocked", "restarted"])
async def test_a_long_message_of_a_release_is_cut_and_keeps_its_reason(api: Api, reason: str) -> None:
    await api.add("python")
    claim = await api.claim()
    await api.release(reason, "😀" * 1_000_000, **held(claim))
    message = (await api.keyword(claim["id"]))["error_message"]
    assert message.startswith(f"{reason}: 😀😀")
    assert 900 < len(message) <= 1000


async def test_a_message_of_nul_and_surrogates_does_not_lose_a_release(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    answer = await send(api, "/release", {"source": "boss", **held(claim), "error_message": "a\x00\ud800"})
    assert answer.json() == {"data": {"released": 1}}
    assert (await api.keyword(claim["id"]))["error_message"] == "other: a?"


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_without_end_is_refused_before_it_fills_the_memory(api: Api, announced: bool) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b" " * 2**20

    content = b" " * 64 * 2**20 if announced else endless()
    response = await api.raw.post("/api/v1/keyword/bulk", content=content)
    assert (response.status_code, response.headers["content-type"]) == (413, "application/problem+json")


async def test_a_body_that_does_not_arrive_is_given_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_body, "BODY_SECONDS", 0.05)

    async def stalled() -> AsyncIterator[bytes]:
        yield b'{"source": '
        await asyncio.Event().wait()

    response = await api.raw.post("/api/v1/keyword/bulk", content=stalled())
    assert (response.status_code, response.headers["content-type"]) == (408, "application/problem+json")

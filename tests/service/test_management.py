"""The work list: adding keywords without doubling them, and looking through them."""

import asyncio
from typing import Any

import pytest

from tests.service.conftest import Api, MovableTime, by_hand, held, jobs, utc

LOOKALIKES = ["C++", "c++", "Ｃ＋＋", "C＋＋", "😀", "😁", "Java", "java", "resume", "résumé", "ss", "ß", "か", "が"]


async def browse(api: Api, **filters: Any) -> list[str]:
    return jobs((await api.get("", source="boss", **filters))["items"])


# --- adding -----------------------------------------------------------------------------------------------------------


async def test_a_new_keyword_is_idle_and_empty(api: Api, clock: MovableTime) -> None:
    answer = await api.raw.post("/api/v1/keyword", json={"source": "boss", "city": " 北京 ", "job": "python"})
    assert answer.status_code == 201
    keyword = answer.json()["data"]
    assert keyword.pop("id") > 0
    nothing = dict.fromkeys(
        ("last_requested_date", "last_requested_at", "total_pages", "crawl_started_at", "crawl_finished_at",
         "crawler_id", "lease_expires_at")
    )  # fmt: skip
    assert keyword == {
        "source": "boss", "city": "北京", "job": "python", "status": "idle", "last_completed_page": 0, "jobs_found": 0,
        "retry_count": 0, "error_message": "", "created_at": utc(clock.now), "updated_at": utc(clock.now), **nothing,
    }  # fmt: skip


async def test_a_keyword_added_again_is_the_same_keyword(api: Api, clock: MovableTime) -> None:
    body = {"source": "boss", "city": "北京", "job": "python"}
    first = await api.raw.post("/api/v1/keyword", json=body)
    clock.advance(days=1)
    again = await api.raw.post("/api/v1/keyword", json=body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()


async def test_adding_a_keyword_that_is_being_crawled_shows_and_leaves_its_state(api: Api) -> None:
    await api.add("python")
    await api.page(await api.claim(), 2)
    again = await api.post("", city="北京", job="python")
    assert (again["status"], again["last_completed_page"]) == ("crawling", 2)


async def test_a_keyword_added_by_eight_at_once_is_there_once(api: Api) -> None:
    body = {"source": "boss", "city": "北京", "job": "python"}
    answers = await asyncio.gather(*(api.raw.post("/api/v1/keyword", json=body) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1


async def test_many_added_again_are_counted_and_not_doubled(api: Api) -> None:
    names = [{"city": "北京", "job": f"job {number}"} for number in range(450)]
    assert await api.post("/bulk", keywords=names[:300]) == {"created": 300, "existing": 0}
    assert await api.post("/bulk", keywords=names) == {"created": 150, "existing": 300}
    assert await api.post("/bulk", keywords=names) == {"created": 0, "existing": 450}
    assert (await api.stats())["total"] == 450


async def test_ten_thousand_at_once_are_taken(api: Api) -> None:
    names = [{"city": "北京", "job": str(number)} for number in range(10_000)]
    assert await api.post("/bulk", keywords=names) == {"created": 10_000, "existing": 0}


async def test_doubles_within_a_request_are_counted_as_existing(api: Api) -> None:
    names = [{"city": "北京", "job": job} for job in ("python", "java", "python", " python ")]
    assert await api.post("/bulk", keywords=names) == {"created": 2, "existing": 2}
    assert await browse(api) == ["python", "java"]


async def test_many_added_by_four_at_once_are_there_once(api: Api) -> None:
    names = [{"city": "北京", "job": f"job {number}"} for number in range(250)]
    answers = await asyncio.gather(*(api.post("/bulk", keywords=names) for _ in range(4)))
    assert sum(answer["created"] for answer in answers) == 250
    assert (await api.stats())["total"] == 250


async def test_names_that_look_alike_are_different_keywords(api: Api) -> None:
    names = [{"city": "北京", "job": job} for job in LOOKALIKES]
    assert await api.post("/bulk", keywords=names) == {"created": len(LOOKALIKES), "existing": 0}
    assert await browse(api) == LOOKALIKES
    for job in LOOKALIKES:
        assert await browse(api, job=job) == [job]


async def test_the_same_job_in_two_cities_and_two_sources_are_different_keywords(api: Api) -> None:
    for city in ("北京", "上海"):
        await api.add("python", city=city)
        await api.add("python", city=city, source="qcwy")
    assert [(await api.stats(source))["total"] for source in ("boss", "qcwy", "zhilian")] == [2, 2, 0]


async def test_names_are_taken_as_text_whatever_they_look_like(api: Api) -> None:
    names = ["'; DROP TABLE boss_keyword; --", "100% _a_ \\", "?", "%s", "{table}", '"', "<script>"]
    await api.post("/bulk", keywords=[{"city": "北京", "job": job} for job in names])
    assert await browse(api) == names
    assert jobs(await api.claim(limit=10)) == names


# --- looking through --------------------------------------------------------------------------------------------------


async def put_in_every_state(api: Api) -> None:
    """One keyword in each state, named after it."""
    ids = await api.add("crawling", "completed", "failed", "partial", "untracked", "idle")
    _, completed, failed, partial = await api.claim(limit=4)
    await api.complete(completed)
    await api.fail(failed)
    await api.release("stopped", **held(partial))
    await api.post("/mark-used", keyword_id=ids[4])


@pytest.mark.parametrize("status", ["crawling", "completed", "failed", "partial", "untracked", "idle"])
async def test_the_list_is_filtered_by_the_state_of_today(api: Api, status: str) -> None:
    await put_in_every_state(api)
    assert await browse(api, status=status) == [status]


@pytest.mark.parametrize("hours", [0, 1, 14, 100])
async def test_the_filter_by_state_and_the_states_shown_agree(api: Api, clock: MovableTime, hours: int) -> None:
    await put_in_every_state(api)
    clock.advance(hours=hours)
    shown = (await api.get("", source="boss"))["items"]
    for status in ("crawling", "completed", "failed", "partial", "untracked", "idle"):
        assert await browse(api, status=status) == [item["job"] for item in shown if item["status"] == status]


async def test_a_crawl_that_lives_past_midnight_is_listed_as_crawling(api: Api, clock: MovableTime) -> None:
    await api.add("python")
    clock.advance(hours=13, minutes=50)
    await api.claim()
    clock.advance(minutes=20)
    assert await browse(api, status="crawling") == ["python"]
    assert await browse(api, status="idle") == []


async def test_the_list_is_filtered_by_city_job_and_crawler(api: Api) -> None:
    await api.add("python", "java", city="北京")
    await api.add("python", "java", city="上海")
    await api.claim("spider-7")
    assert await browse(api, city="上海") == ["python", "java"]
    assert [item["city"] for item in (await api.get("", source="boss", job="python"))["items"]] == ["北京", "上海"]
    assert await browse(api, city="上海", job="java") == ["java"]
    assert await browse(api, crawler_id="spider-7") == ["python"]
    assert await browse(api, crawler_id="spider-7", city="上海") == []


@pytest.mark.parametrize("name", ["city", "job", "crawler_id", "error"])
@pytest.mark.parametrize("value", ["", "x" * 100, "😀" * 100, "a\x00b", "'; --", "\\", "%"])
async def test_a_filter_that_matches_nothing_finds_nothing(api: Api, name: str, value: str) -> None:
    await api.add("python")
    found = await browse(api, **{name: value})
    assert found == (["python"] if (name, value) == ("error", "") else [])


@pytest.mark.parametrize("message", ["100% done", "code_37", "C:\\temp", 'it\'s "quoted"', "账号异常", "😀"])
async def test_the_list_is_filtered_by_a_part_of_the_error_as_it_is_written(api: Api, message: str) -> None:
    await api.add("this", "other", "none")
    this, other, _ = await api.claim(limit=3)
    await api.fail(this, f"page 3: {message}!")
    await api.fail(other, "page 3: 1000 done code 37 C:temp")
    assert await browse(api, error=message) == ["this"]
    assert await browse(api, error="page 3") == ["this", "other"]


async def test_the_error_is_searched_whatever_its_case(api: Api) -> None:
    await api.add("python")
    await api.fail(await api.claim(), "Timeout")
    assert await browse(api, error="timeout") == ["python"]


async def test_the_list_is_read_page_by_page(api: Api) -> None:
    names = [f"job {number}" for number in range(7)]
    await api.add(*names)
    seen, cursor, sizes = [], "0", []
    while cursor:
        page = await api.get("", source="boss", limit=3, cursor=cursor)
        seen += jobs(page["items"])
        sizes.append(len(page["items"]))
        cursor = page["next_cursor"]
    assert (seen, sizes) == (names, [3, 3, 1])


async def test_a_full_last_page_has_no_next_one(api: Api) -> None:
    await api.add("a", "b")
    page = await api.get("", source="boss", limit=2)
    assert (jobs(page["items"]), page["next_cursor"]) == (["a", "b"], None)


async def test_paging_neither_skips_nor_repeats_while_keywords_come_and_go(api: Api) -> None:
    ids = await api.add("a", "b", "c", "d")
    first = await api.get("", source="boss", limit=2)
    await by_hand("DELETE FROM boss_keyword WHERE id = ?", ids[1])
    await api.add("e")
    assert await browse(api, cursor=first["next_cursor"]) == ["c", "d", "e"]


async def test_paging_goes_through_what_a_filter_leaves(api: Api) -> None:
    await api.add("a", "b", "c", city="北京")
    await api.add("x", city="上海")
    page = await api.get("", source="boss", city="北京", limit=2)
    assert await browse(api, city="北京", cursor=page["next_cursor"]) == ["c"]


async def test_the_list_shows_fifty_unless_told(api: Api) -> None:
    await api.post("/bulk", keywords=[{"city": "北京", "job": str(number)} for number in range(60)])
    assert len(await browse(api)) == 50
    assert len(await browse(api, limit=500)) == 60


async def test_a_cursor_beyond_the_end_finds_nothing(api: Api) -> None:
    await api.add("python")
    assert await api.get("", source="boss", cursor="9" * 18) == {"items": [], "next_cursor": None}


async def test_the_list_never_shows_a_token(api: Api) -> None:
    await api.add("python")
    claim = await api.claim()
    answer = await api.raw.get("/api/v1/keyword", params={"source": "boss"})
    assert claim["claim_token"] not in answer.text

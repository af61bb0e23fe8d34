"""What the boards' readers share, where no single board shows it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs_spider.board import Answer, CrawlProblem
from jobs_spider.boss import answers as boss
from jobs_spider.qcwy import answers as qcwy
from jobs_spider.reading import Entries, counted_page, plain_url, raw_entry, storable
from jobs_spider.zhilian import answers as zhilian

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = {
    "boss": ("encryptJobId", "jobName", "salaryDesc", "jobLabels", "skills", "welfareList", "cityName", "bossName"),
    "qcwy": ("jobId", "jobName", "jobTags", "jobAreaString", "jobAreaLevelDetail", "jobHref", "issueDateString"),
    "zhilian": ("number", "name", "positionURL", "workCity", "city", "company", "jobDetailData", "skillLabel"),
}  # fmt: skip
READERS: dict[str, Any] = {"boss": boss.read_job, "qcwy": qcwy.read_job, "zhilian": zhilian.read_job}


@pytest.mark.parametrize("source", READERS)
def test_no_entry_whatever_its_fields_hold_trips_a_reader_and_each_job_can_be_stored(source: str) -> None:
    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS[source], JSON)))
    def check(entry: dict[str, Any]) -> None:
        job = READERS[source](entry)
        if job:
            assert type(job).model_validate_json(job.model_dump_json()) == job

    check()


@pytest.mark.parametrize("source", READERS)
def test_no_answer_whatever_its_bytes_are_is_more_than_a_page_or_a_problem(source: str) -> None:
    read: Any = {
        "boss": lambda answer: boss.read_page(answer, 15),
        "qcwy": lambda answer: qcwy.read_page(answer, 1, 20),
        "zhilian": lambda answer: zhilian.read_page(answer, 1, 20),
    }[source]

    @given(
        st.sampled_from([200, 302, 404]), st.binary(max_size=60) | st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000])
    )
    def check(status: int, body: bytes) -> None:
        with pytest.raises(CrawlProblem):
            read(Answer(status, "https://a.example/x", body))

    check()


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://a.b/c.htm?x=1#y", "https://a.b/c.htm"),
        ("//a.b/c", "https://a.b/c"),
        ("http://a.b:80/c", "http://a.b:80/c"),
        ("/c", ""), ("javascript:x", ""), ("https://[", ""), ("", ""),
    ],
)  # fmt: skip
def test_an_address_loses_its_query(address: str, plain: str) -> None:
    assert plain_url(address) == plain


def test_the_kept_entry_has_no_person_no_session_and_only_what_json_can_hold() -> None:
    entry = {
        "bossName": "A", "hrUid": "B", "staffCard": {"staffName": "C"}, "securityId": "D", "lid": "E",
        "link": "https://a.b/c?req=F", "text": "https://a.b/c?kept and more",
        "deep": [{"hrName": "G", "x": float("nan")}],
        "href": "kept", "bossy": "kept",
    }  # fmt: skip
    assert raw_entry(entry) == {
        "link": "https://a.b/c", "text": "https://a.b/c?kept and more", "deep": [{"x": None}], "href": "kept",
        "bossy": "kept",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "kept"), [("\ud83d急", "?急"), ("a\0b", "ab"), (" a ", "a")])
def test_what_cannot_be_stored_is_taken_out(text: str, kept: str) -> None:
    assert storable(text) == kept


@pytest.mark.parametrize("strange", [0, 1, 3, 14])
@pytest.mark.parametrize("page", [1, 2, 3])
def test_strange_entries_on_a_page_of_another_size_than_asked_for_end_no_keyword_early(page: int, strange: int) -> None:
    """Found by a long chaos run: 4 pages of 5, asked for as one of 20, were taken for 3 when 3 other entries came."""
    jobs = [job for number in range(5) if (job := zhilian.read_job({"number": f"CC{number}", "name": "x"}))]
    read = counted_page(Entries(jobs, ()), 5 + strange, page, 20, total=20, most_pages=50)
    assert read.has_more
    assert read.total_pages is not None
    assert read.total_pages >= 4

"""Records for tests; name only the fields that the test is about."""

from datetime import UTC, datetime
from typing import Any

from jobs_spider.record import Job, JobRecord

EVENING = datetime(2026, 3, 1, 18, 0, tzinfo=UTC)


def record(job_id: str = "a", fetched_at: datetime = EVENING, keep_raw: bool = True, **fields: Any) -> JobRecord:
    """A job of Boss, found by 上海 C++ on page 1."""
    job = Job(**{"source": "boss", "job_id": job_id, "title": "Python开发😀", "city": "上海", **fields})
    return JobRecord.found(job, "C++", "上海", 1, fetched_at, keep_raw)

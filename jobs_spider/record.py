"""The one shape of a job, whichever board it comes from. `docs/job-record.md` is written from these fields."""

from datetime import datetime
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from jobs_spider.salary import Unit, parse_salary


class Job(BaseModel):
    """A job as a board's list shows it. A text that the board does not give is empty.

    No recruiter's name or picture: persons are not what is collected.
    """

    model_config = ConfigDict(frozen=True)

    source: str = Field(description="The board: `boss`, `qcwy` or `zhilian`.")
    job_id: str = Field(description="The board's own id of the job; empty where the board gives none.")
    title: str = Field(description="The job's title.")
    company: str = Field("", description="The company's name; a board may shorten or hide it.")
    company_size: str = Field("", description="Number of employees, in the board's words, such as `100-499人`.")
    company_industry: str = Field("", description="The company's industry, in the board's words.")
    company_stage: str = Field(
        "", description="Stage or kind of the company, in the board's words: `C轮`, `已上市`, `民营`."
    )
    city: str = Field("", description="City of the job, in the board's words.")
    district: str = Field("", description="District and neighbourhood within the city, joined by `·`.")
    salary_text: str = Field("", description="The salary as the board writes it.")
    experience: str = Field("", description="Experience wanted, in the board's words.")
    degree: str = Field("", description="Degree wanted, in the board's words.")
    tags: tuple[str, ...] = Field((), description="Skills, labels and welfare, each once, in the board's order.")
    url: str = Field("", description="Address of the job, without the query that carries a session.")
    published_at: AwareDatetime | None = Field(
        None, description="When the board says that the job was published; null where it says nothing (Boss)."
    )
    raw: dict[str, JsonValue] | None = Field(
        None,
        description="The board's own entry, without fields of persons and sessions; null with SPIDER_KEEP_RAW=false.",
    )

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two entries the same job; a few come without an id."""
        return (self.job_id,) if self.job_id else (self.title, self.company, self.district, self.salary_text)


class JobRecord(Job):
    """A stored job: what the list showed, its salary as numbers, and the keyword, page and time it was found by."""

    salary_min_month: int | None = Field(
        None, description="Least pay in yuan a month; null when open, unknown, or paid by the day or hour."
    )
    salary_max_month: int | None = Field(None, description="Most pay in yuan a month; null as above.")
    salary_months: int | None = Field(None, description="Monthly pays a year, 12 unless the text says otherwise.")
    salary_unit: Unit | None = Field(
        None, description="What the text counts pay by: `month`, `year`, `day`, `hour`; null when it has no numbers."
    )
    keyword: str = Field(description="Job title of the keyword that found it.")
    keyword_city: str = Field(description="City of that keyword.")
    page: int = Field(description="Result page it stood on, from 1.")
    fetched_at: AwareDatetime = Field(description="When that page was fetched.")

    @classmethod
    def found(cls, job: Job, keyword: str, keyword_city: str, page: int, fetched_at: datetime, keep_raw: bool) -> Self:
        """The record of a job that this keyword's page has brought."""
        salary = parse_salary(job.salary_text)
        told: dict[str, Any] = dict(job) | ({} if keep_raw else {"raw": None})
        return cls(
            **told,
            salary_min_month=salary.min_month,
            salary_max_month=salary.max_month,
            salary_months=salary.months,
            salary_unit=salary.unit,
            keyword=keyword,
            keyword_city=keyword_city,
            page=page,
            fetched_at=fetched_at,
        )

"""The keyword tables, one a source, and what is kept of their earlier days."""

from tortoise import fields
from tortoise.indexes import Index
from tortoise.models import Model

from app.core.enums import CrawlStatus, Source

NAME_LENGTH = 255  # city and job, in characters
CRAWLER_ID_LENGTH = 100
ERROR_MESSAGE_LENGTH = 1000  # longer messages are cut
CLAIM_TOKEN_LENGTH = 32


class BaseKeyword(Model):
    """One (city, job) of a source, and how its crawl of `last_requested_date` stands.

    A row says nothing of today unless its date is today: no job ever resets the table.
    A row that is `idle` although its date is set was taken by an old spider, which reports nothing: it is untracked.
    `lease_expires_at` stays set when a sweep ends a claim: such a claim may still come back to life.
    """

    id = fields.BigIntField(primary_key=True)
    city = fields.CharField(max_length=NAME_LENGTH)
    job = fields.CharField(max_length=NAME_LENGTH)
    last_requested_date = fields.DateField(null=True)  # business day of the last claim
    last_requested_at = fields.DatetimeField(null=True)
    crawl_status = fields.CharEnumField(
        CrawlStatus, max_length=20, default=CrawlStatus.IDLE, db_default="idle", description="state of the last claim"
    )
    last_completed_page = fields.IntField(default=0, db_default=0)  # the checkpoint
    total_pages = fields.IntField(null=True)  # as the board tells, null while unknown
    jobs_found = fields.IntField(default=0, db_default=0)
    crawl_started_at = fields.DatetimeField(null=True)
    crawl_finished_at = fields.DatetimeField(null=True)
    crawler_id = fields.CharField(max_length=CRAWLER_ID_LENGTH, null=True)
    error_message = fields.CharField(max_length=ERROR_MESSAGE_LENGTH, default="", db_default="")
    retry_count = fields.IntField(default=0, db_default=0)  # failed claims of the day
    retry_at = fields.DatetimeField(null=True)  # claimable again from; the waiting order
    claim_token = fields.CharField(max_length=CLAIM_TOKEN_LENGTH, default="", db_default="")
    claim_page = fields.IntField(default=0, db_default=0)  # checkpoint when the claim began
    lease_expires_at = fields.DatetimeField(null=True)
    created_at = fields.DatetimeField(auto_now_add=True)
    updated_at = fields.DatetimeField(auto_now=True)

    class Meta:
        abstract = True
        unique_together = (("city", "job"),)
        indexes = (
            # partial and failed keywords of today in waiting order; the counts of a day
            Index(fields=("crawl_status", "last_requested_date", "retry_at")),
            # keywords that nobody has asked for today, longest waiting first
            Index(fields=("last_requested_date",)),
            # claims whose lease has run out
            Index(fields=("crawl_status", "lease_expires_at")),
            # everything that one crawler holds
            Index(fields=("crawler_id",)),
        )


class BossKeyword(BaseKeyword):
    class Meta(BaseKeyword.Meta):
        abstract = False
        table = "boss_keyword"


class QcwyKeyword(BaseKeyword):
    class Meta(BaseKeyword.Meta):
        abstract = False
        table = "qcwy_keyword"


class ZhilianKeyword(BaseKeyword):
    class Meta(BaseKeyword.Meta):
        abstract = False
        table = "zhilian_keyword"


KEYWORD_MODELS: dict[Source, type[BaseKeyword]] = {
    Source.BOSS: BossKeyword,
    Source.QCWY: QcwyKeyword,
    Source.ZHILIAN: ZhilianKeyword,
}


# As the migrations named them.
INDEX_BY_DATE: dict[Source, str] = {
    Source.BOSS: "idx_boss_keywor_last_re_17bb50",
    Source.QCWY: "idx_qcwy_keywor_last_re_4380d5",
    Source.ZHILIAN: "idx_zhilian_key_last_re_eb06ec",
}


def table_of(source: Source) -> str:
    return KEYWORD_MODELS[source]._meta.db_table


class KeywordHistory(Model):
    """How one keyword's crawl of one past day ended, written when a fresh claim of a later day resets the keyword."""

    id = fields.BigIntField(primary_key=True)
    source = fields.CharField(max_length=20)
    keyword_id = fields.BigIntField()
    business_date = fields.DateField()
    city = fields.CharField(max_length=NAME_LENGTH)
    job = fields.CharField(max_length=NAME_LENGTH)
    state = fields.CharField(max_length=20)  # completed, failed, partial or untracked
    last_completed_page = fields.IntField()
    total_pages = fields.IntField(null=True)
    jobs_found = fields.IntField()
    retry_count = fields.IntField()
    crawler_id = fields.CharField(max_length=CRAWLER_ID_LENGTH, null=True)
    error_message = fields.CharField(max_length=ERROR_MESSAGE_LENGTH)
    crawl_started_at = fields.DatetimeField(null=True)
    crawl_finished_at = fields.DatetimeField(null=True)
    created_at = fields.DatetimeField()

    class Meta:
        table = "keyword_history"
        unique_together = (("source", "keyword_id", "business_date"),)
        # the counts of a past day
        indexes = (Index(fields=("source", "business_date", "state")),)

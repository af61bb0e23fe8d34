"""What the service keeps about itself and about each source as a whole."""

from tortoise import fields
from tortoise.models import Model


class SourcePause(Model):
    """A source that an operator has paused; no row, or `until` in the past: not paused."""

    source = fields.CharField(max_length=20, primary_key=True)
    reason = fields.CharField(max_length=1000)
    until = fields.DatetimeField(null=True)  # null: until somebody resumes it
    created_at = fields.DatetimeField()

    class Meta:
        table = "source_pause"


class SourceBlock(Model):
    """The last time that a board blocked a crawler; rows older than the window in which blocks count are removed."""

    id = fields.BigIntField(primary_key=True)
    source = fields.CharField(max_length=20)
    crawler_id = fields.CharField(max_length=100)
    blocked_at = fields.DatetimeField()

    class Meta:
        table = "source_block"
        unique_together = (("source", "crawler_id"),)


class SourceCooldown(Model):
    """A source that rests because its board blocked several crawlers; `until` in the past: it rests no more."""

    source = fields.CharField(max_length=20, primary_key=True)
    strikes = fields.IntField()  # cool-downs in a row; each is twice as long as the one before
    until = fields.DatetimeField()
    reason = fields.CharField(max_length=1000)

    class Meta:
        table = "source_cooldown"


class ServiceState(Model):
    """One row: the last sign of life of any server process, by which an outage is recognised."""

    id = fields.SmallIntField(primary_key=True, generated=False)
    alive_at = fields.DatetimeField()

    class Meta:
        table = "service_state"

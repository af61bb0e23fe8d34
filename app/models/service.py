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


class ServiceState(Model):
    """One row: the last sign of life of any server process, by which an outage is recognised."""

    id = fields.SmallIntField(primary_key=True, generated=False)
    alive_at = fields.DatetimeField()

    class Meta:
        table = "service_state"

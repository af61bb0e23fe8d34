"""The envelopes that every answer comes in."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Answer(BaseModel, Generic[T]):
    """A success."""

    model_config = ConfigDict(from_attributes=True)

    data: T


class Handout(Answer[T], Generic[T]):
    """Keywords handed out."""

    reason: str | None = Field(None, description="Why there are none, when the source is paused or cools down.")


class FieldError(BaseModel):
    """One thing that is wrong with the input."""

    pointer: str = Field(description="JSON pointer to the field, such as #/page; of a query parameter #/source.")
    location: str = Field(description="body, query or path.")
    detail: str


class Problem(BaseModel):
    """An error, after RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = Field(None, description="The wrong fields of a 422.")

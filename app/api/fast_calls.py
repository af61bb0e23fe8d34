"""The calls that spiders make all the time, taken past FastAPI's own machinery, which costs more than all their work.

Only a call that is plainly right is taken here. Whatever is not (wrong input, a body in pieces, another method) goes
on to FastAPI's route of the same endpoint, so that each error is worded in one place, and the OpenAPI document tells of
both ways.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from starlette.datastructures import State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.dependencies import PROVIDERS
from app.api.problem_details import contention, service_error
from app.core.errors import Contention, ServiceError

Endpoint = Callable[..., Awaitable[Response]]
Calls = Mapping[tuple[str, str], Endpoint]  # by method and path

LONGEST_QUERY = 512  # bytes; of longer ones none is remembered


def answer(data: object, headers: Mapping[str, str] | None = None, **more: object) -> Response:
    """A success as it goes out. What the controllers give has the fields that the route's answer model declares."""
    return Response(to_json({"data": data, **more}), headers=headers, media_type="application/json")


class FastCall:
    """An endpoint whose first parameter is the model of its body (POST) or of its query (GET)."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        first, *others = inspect.signature(endpoint).parameters.values()
        self._model: type[BaseModel] = inspect.get_annotations(endpoint, eval_str=True)[first.name]
        self._needs = {parameter.name: PROVIDERS[parameter.name] for parameter in others}
        self._from_query = lru_cache(maxsize=1024)(self._read_query)  # spiders repeat theirs

    async def __call__(self, given: BaseModel, state: State) -> Response:
        return await self.endpoint(given, **{name: provide(state) for name, provide in self._needs.items()})

    def from_body(self, body: bytes) -> BaseModel | None:
        """The endpoint's input, or None when something is wrong with it."""
        try:
            return self._model.model_validate(from_json(body, allow_inf_nan=False))
        except (ValidationError, ValueError):
            return None

    def from_query(self, query: bytes) -> BaseModel | None:
        """The endpoint's input, or None when something is wrong with it."""
        return self._from_query(query) if len(query) <= LONGEST_QUERY else None

    def _read_query(self, query: bytes) -> BaseModel | None:
        try:
            return self._model.model_validate(dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)))
        except ValidationError:
            return None


class FastCalls:
    """The layer just before FastAPI's router."""

    def __init__(self, app: ASGIApp, state: State, calls: Calls) -> None:
        self.app = app
        self.state = state
        self.calls = {call: FastCall(endpoint) for call, endpoint in calls.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = self.calls.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if call is None:
            await self.app(scope, receive, send)
            return
        if scope["method"] == "GET":
            given = call.from_query(scope["query_string"])
        else:
            first = await receive()
            whole = first["type"] == "http.request" and not first.get("more_body")
            given = call.from_body(first.get("body", b"")) if whole else None
            receive = _again(first, receive)
        if given is None:
            await self.app(scope, receive, send)
            return
        try:
            response = await call(given, self.state)
        except ServiceError as error:
            response = await service_error(Request(scope), error)
        except Contention as error:
            response = await contention(Request(scope), error)
        await response(scope, receive, send)


def _again(first: Message, receive: Receive) -> Receive:
    """Receives the message that was received already, then the others."""
    messages: list[Any] = [first]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again

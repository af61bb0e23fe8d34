"""Errors as application/problem+json (RFC 9457). What a client sent is never repeated: it may hold a secret."""

import logging
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Contention, DatabaseUnavailable, ServiceError
from app.schemas.answers import FieldError, Problem

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
SERVICE = Path(__file__).resolve().parents[1]


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    content = problem.model_dump(exclude_none=True)
    return JSONResponse(content, status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)


async def service_error(request: Request, error: ServiceError) -> JSONResponse:
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else None
    problem = Problem(type=error.type, title=error.title, status=error.status, detail=error.detail)
    return problem_response(problem, headers)


async def contention(request: Request, error: Contention) -> JSONResponse:
    """What was read outside of a retried operation met a lock: as rare as it is temporary."""
    return await service_error(request, DatabaseUnavailable("The database is too busy. Try again in a moment."))


async def http_error(request: Request, error: HTTPException) -> JSONResponse:
    title = HTTPStatus(error.status_code).phrase
    headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
    problem = Problem(type="about:blank", title=title, status=error.status_code, detail=str(error.detail))
    return problem_response(problem, headers)


def _allowed(request: Request) -> str:
    """Each method that this path takes; Starlette's own answer names those of the first route alone."""
    scopes = ({**request.scope, "method": method} for method in METHODS)
    routes = request.app.routes
    return ", ".join(scope["method"] for scope in scopes if any(_takes(route, scope) for route in routes))


def _takes(route: BaseRoute, scope: Scope) -> bool:
    return route.matches(scope)[0] is Match.FULL


async def invalid_input(request: Request, error: RequestValidationError) -> JSONResponse:
    fields = [_field_error(item) for item in error.errors()]
    detail = "; ".join(f"{field.pointer.removeprefix('#/') or 'body'}: {field.detail}" for field in fields[:5])
    problem = Problem(type="/problems/invalid-input", title="Invalid input", status=422, detail=detail, errors=fields)
    return problem_response(problem)


def _field_error(item: Mapping[str, Any]) -> FieldError:
    location: Sequence[Any] = item["loc"]
    if item["type"] == "json_invalid":
        detail = f"not valid JSON at character {location[1]}: {item['ctx']['error']}"
        return FieldError(pointer="#/", location="body", detail=detail)
    path = location[1:]
    pointer = "#/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)
    detail = str(item["msg"]).removeprefix("Value error, ")
    return FieldError(pointer=pointer, location=str(location[0]), detail=detail)


class UnexpectedErrors:
    """The outermost layer: an error that nobody foresaw becomes a plain 500, and one log line without its values.

    Starlette's own handler for such errors passes them on to the server, which logs the traceback with whatever is in
    the message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except Exception as error:
            if scope["type"] != "http":
                raise
            logger.error("unexpected %s in %s %s at %s", type(error).__name__, scope["method"], scope["path"],
                         _origin(error))  # fmt: skip
            if not started:
                detail = "Something went wrong here; the service's log says where."
                problem = Problem(type="about:blank", title="Internal Server Error", status=500, detail=detail)
                await problem_response(problem)(scope, receive, send)


def _origin(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(SERVICE)] or frames
    return f"{ours[-1].filename}:{ours[-1].lineno}"


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ServiceError, service_error)  # type: ignore[arg-type]
    app.add_exception_handler(Contention, contention)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, http_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, invalid_input)  # type: ignore[arg-type]
    app.add_middleware(UnexpectedErrors)
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        """FastAPI describes a model as application/json too, which an error here never is."""
        document = generate()
        for operations in document["paths"].values():
            for operation in operations.values():
                for response in operation["responses"].values():
                    if MEDIA_TYPE in response.get("content", {}):
                        response["content"].pop("application/json", None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI entries of a route's problem documents; 422 and 503 come with every route."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "model": Problem,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in (*statuses, 422, 503)
    }

"""JSON bodies as old and new spiders send them."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

LARGEST_BODY = 32 * 2**20  # bytes; 10,000 keywords at their longest, each character escaped, are 31 MB
BODY_SECONDS = 60.0  # whoever sends more slowly than that holds a connection and nothing else


class JSONRequest(Request):
    """A body is JSON whatever its Content-Type says: old spiders send none, curl says it is a form."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    self._body = await self._whole_body()
            except TimeoutError:
                raise HTTPException(408, f"The body did not arrive within {BODY_SECONDS:g} s.") from None
        return self._body

    async def _whole_body(self) -> bytes:
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > LARGEST_BODY:
                raise HTTPException(413, f"The body is larger than {LARGEST_BODY // 2**20} MiB.")
            chunks.append(chunk)
        return b"".join(chunks)

    async def json(self) -> Any:
        body = await self.body()
        try:
            return json.loads(body, parse_constant=_refuse_constant)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError):
            # Not UTF-8, NaN or Infinity, a number of thousands of digits, brackets without end: FastAPI turns only
            # JSONDecodeError into a 422.
            raise json.JSONDecodeError("not plain JSON in UTF-8", "", 0) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class JSONRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            scope = dict(request.scope)
            other = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
            scope["headers"] = [*other, (b"content-type", b"application/json")]
            return await handler(JSONRequest(scope, request.receive))

        return handle

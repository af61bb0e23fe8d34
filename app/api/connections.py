"""How long clients may keep their connections."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.draining import Drain


class ClosedWhileDraining:
    """While the process drains, each answer ends its connection: the client's next call goes to another process."""

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self.app = app
        self.drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def closing_send(message: Message) -> None:
            if message["type"] == "http.response.start" and self.drain.under_way:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, receive, closing_send if scope["type"] == "http" else send)

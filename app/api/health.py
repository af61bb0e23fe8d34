"""Probes for supervisors and load balancers."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from app.api.problem_details import documented
from app.core.errors import DatabaseUnavailable, Stopping
from app.core.init_app import missing_migrations

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@router.get("/livez")
async def livez() -> Health:
    """The process answers."""
    return Health()


@router.get("/readyz", responses=documented())
async def readyz(request: Request) -> Health:
    """The database answers, its tables are up to date, and nobody has told this process to stop."""
    if request.app.state.drain.under_way:
        raise Stopping("This process has been told to stop.")
    if await missing_migrations():
        raise DatabaseUnavailable("The tables are older than this service: run `aerich upgrade`.")
    return Health()

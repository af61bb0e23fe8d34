"""What the database alone takes for a call: its statements through the driver, one after the other."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import aiomysql
import uvloop

from app.core.database import MYSQL_FOUND_ROWS, mysql_placeholders
from app.core.enums import Source
from app.models import keyword_sql as sql
from app.models import service_sql
from app.models.keyword import INDEX_BY_DATE
from benchmarks.world import CRAWLER, TABLE

CALLS = 400


def statements(call: str, number: int) -> list[tuple[str, Sequence[Any]]]:
    """Those of the call about keyword `number`, as the service sends them for a spider that is alone."""
    now = datetime.now(UTC)
    today, lease = now.date(), now + timedelta(minutes=30)
    held = sql.HELD_BY_TOKEN + sql.AND_BY_CRAWLER
    who = (f"token-{number}", CRAWLER)
    match call:
        case "page-progress":
            return [(sql.PROGRESS.format(table=TABLE, held=held), (15, 3, lease, now, 1, number, 1, *who))]
        case "heartbeat":
            return [(sql.RENEW.format(table=TABLE, held=held), (lease, now, number, *who))]
        case "crawl-complete":
            complete = sql.COMPLETE.format(table=TABLE, held=held)
            return [(complete, ("", now, now, number, *who)), (sql.READ.format(table=TABLE), (number,))]
    arms = ((today, 9), (9,), (now, today, 3, 9), (today, now, 3, 9), (now, 9), (today, now, 9))
    candidates = sql.CANDIDATES_MYSQL.format(table=TABLE, by_date=INDEX_BY_DATE[Source.BOSS])
    claim = sql.claim(1, fresh=True).format(table=TABLE)
    as_read = (number, "", "idle", 0, 0, 0, now)
    claimed = (today, now, now, lease, now, number, CRAWLER, number, "token", "crawling", *as_read)
    return [
        (service_sql.CLOSURES, ("boss", now, "boss", now)),
        (candidates, [parameter for arm in arms for parameter in arm]),
        (claim, claimed),
    ]


def p50(database: str, call: str) -> float:
    """Seconds."""
    return uvloop.run(_p50(database, call))


async def _p50(database: str, call: str) -> float:
    parts = urlsplit(database)
    connection = await aiomysql.connect(
        host=parts.hostname, port=parts.port, user=parts.username, password=parts.password or "",
        db=parts.path.strip("/"), autocommit=True, client_flag=MYSQL_FOUND_ROWS,
    )  # fmt: skip
    taken = []
    for number in range(1, CALLS + 1):
        todo = [(mysql_placeholders(text), list(values)) for text, values in statements(call, number)]
        began = time.perf_counter()
        async with connection.cursor() as cursor:
            for text, values in todo:
                await cursor.execute(text, values)
                await cursor.fetchall()
        taken.append(time.perf_counter() - began)
    if cursor.rowcount != 1:
        raise RuntimeError(f"the last statement of {call} matched {cursor.rowcount} rows")
    connection.close()
    return median(taken)

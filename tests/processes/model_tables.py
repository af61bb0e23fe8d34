"""Make the tables that the models describe, in the database of DATABASE_URL: `python -m tests.processes.model_tables`.

A process of its own, because Tortoise serves one database a process.
"""

import asyncio

from tortoise import Tortoise

from app.core.database import tortoise_config
from app.core.settings import load_settings


async def make() -> None:
    await Tortoise.init(config=tortoise_config(load_settings()))
    try:
        await Tortoise.generate_schemas()
    finally:
        await Tortoise.close_connections()


if __name__ == "__main__":
    asyncio.run(make())

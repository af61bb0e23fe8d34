"""`.env.example` as the settings classes describe it: `python -m tests.rules.env_example > .env.example`."""

import sys
import textwrap
from collections.abc import Iterator

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from app.core.settings import Settings
from jobs_spider.boss.boos_api import BossSettings
from jobs_spider.qcwy.qcwy import QcwySettings
from jobs_spider.settings import BrowserSettings, SpiderSettings
from jobs_spider.zhilian.zhilian_single import ZhilianSettings

HEAD = """\
# Every setting, with its default. Copy this file to `.env` and change what you need; the environment wins over it.
# It is written by `python -m tests.rules.env_example`, from the settings classes.
"""
SECTIONS: dict[str, type[BaseSettings]] = {
    "The service": Settings,
    "Spiders of all boards": SpiderSettings,
    "The browser that spiders may fetch pages with": BrowserSettings,
    "The Boss spider": BossSettings,
    "The 51job spider": QcwySettings,
    "The Zhaopin spider": ZhilianSettings,
}


def text() -> str:
    return HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    told: set[str] = set()
    for title, settings in SECTIONS.items():
        yield f"\n# ---------- {title} ----------\n"
        prefix = settings.model_config.get("env_prefix", "")
        for field_name, field in settings.model_fields.items():
            name = str(field.validation_alias or (prefix + field_name).upper())
            if name not in told:
                meaning = textwrap.fill(field.description or "", 110, initial_indent="# ", subsequent_indent="# ")
                yield f"\n{meaning}\n#{name}={_default(field)}\n"
            told.add(name)


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


if __name__ == "__main__":
    sys.stdout.write(text())

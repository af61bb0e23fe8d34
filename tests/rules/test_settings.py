"""Settings and the job record are documented, and say clearly what is wrong."""

from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from app.core.errors import StartupError
from app.core.settings import load_settings
from jobs_spider.record import JobRecord
from tests.rules import env_example, record_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_lists_each_setting_with_its_default_and_meaning() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example.text()


def test_the_page_of_the_job_record_lists_each_field_with_its_meaning() -> None:
    assert (ROOT / "docs/job-record.md").read_text(encoding="utf-8") == record_page.text()
    assert [name for name, field in JobRecord.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("settings", env_example.SECTIONS.values())
def test_each_setting_has_a_meaning(settings: type[BaseSettings]) -> None:
    assert [name for name, field in settings.model_fields.items() if not field.description] == []


def test_the_example_as_it_stands_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    settings = [line.removeprefix("#") for line in lines if line.startswith("#") and not line.startswith("# ")]
    (tmp_path / ".env").write_text("\n".join(settings), encoding="utf-8")
    without = load_settings()
    monkeypatch.chdir(tmp_path)
    assert load_settings() == without


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"), ("PORT", "70000"), ("WORKERS", "0"), ("TIMEZONE", "Mars/Olympus"), ("LEASE_SECONDS", "1"),
        ("DATABASE_URL", "postgres://u:pw@h/d"), ("DATABASE_URL", "mysql://u:pw@h"), ("DATABASE_URL", "sqlite://"),
        ("DATABASE_URL", "sqlite://:memory:"), ("DATABASE_URL", "mysql://u:pw@h:port/d"),
        ("DATABASE_URL", "mysql://u:pw/d@h:3306/d"),
        ("DATABASE_URL", "mysql://u:pw@h/d?wrong=1"), ("DATABASE_URL", "mysql://u:pw@h/d?maxsize=many"),
        ("RUN_MIGRATIONS_ON_STARTUP", "maybe"), ("LOG_LEVEL", "LOUD"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_in_one_line_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(StartupError) as error:
        load_settings()
    message = str(error.value)
    assert message.startswith(f"wrong setting {name}: ")
    assert "\n" not in message
    assert "pw" not in message


def test_a_settings_file_that_is_not_utf_8_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("LOG_LEVEL=信息".encode("gbk"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StartupError, match="UTF-8"):
        load_settings()

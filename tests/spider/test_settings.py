"""Settings from the environment and `.env`, and how a wrong one is told."""

import re
from pathlib import Path

import pytest

from jobs_spider.boss.boos_api import BossSettings
from jobs_spider.settings import SpiderSettings, WrongSetting


def test_the_defaults_need_nothing() -> None:
    assert str(SpiderSettings.load().base_url) == "http://127.0.0.1:8000/"
    assert (BossSettings.load().page_limit, BossSettings.load().page_size) == (3, 15)


def test_the_default_user_agent_names_the_tool() -> None:
    assert BossSettings.load().user_agent.startswith("jobdata-spider/")


def test_the_dotenv_file_is_read_and_other_parts_of_it_ignored(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "SPIDER_ID=mine\nDATABASE_URL=x\nSPIDER_LOG_LEVEL=\nTIMEZONE=UTC\n", encoding="utf-8"
    )
    settings = SpiderSettings.load()
    assert (settings.id, settings.log_level, settings.timezone) == ("mine", "INFO", "UTC")


def test_a_dotenv_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("SPIDER_ID=浏览器".encode("gbk"))
    with pytest.raises(WrongSetting, match=r"\.env"):
        SpiderSettings.load()


def test_headers_are_a_json_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_HEADERS", '{"zp_token": "x"}')
    assert BossSettings.load().headers == {"zp_token": "x"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPIDER_ID", "two words"),
        ("SPIDER_BASE_URL", "not an address"),
        ("SPIDER_PAUSE_MIN_SECONDS", "-1"),
        ("SPIDER_PAUSE_MAX_SECONDS", "1"),
        ("SPIDER_SERVICE_RETRIES", "many"),
        ("SPIDER_LOG_LEVEL", "loud"),
        ("SPIDER_NIGHT_HOURS", "1-6"),
        ("SPIDER_NIGHT_HOURS", "25:00-06:00"),
        ("SPIDER_NIGHT_HOURS", "06:00-06:00"),
        ("BOSS_REQUESTS_PER_MINUTE", "0"),
        ("BOSS_PAGES_PER_DAY", "-1"),
        ("TIMEZONE", "Asia/Atlantis"),
        ("TIMEZONE", "../etc"),
        ("TIMEZONE", "Asia"),
        ("BOSS_PAGE_LIMIT", "11"),
        ("BOSS_PAGE_SIZE", "0"),
        ("BOSS_SEARCH_URL", "zhipin"),
        ("BOSS_USER_AGENT", "浏览器"),
        ("BOSS_HEADERS", "zp_token: s3cret"),
        ("BOSS_HEADERS", '{"zp_token": "s3cret\\n"}'),
        ("BOSS_HEADERS", '{"zp_token": ["s3cret"]}'),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it_and_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(WrongSetting) as caught:
        (BossSettings if name.startswith("BOSS") else SpiderSettings).load()
    assert re.fullmatch(rf"{name}: [^\n]+", str(caught.value))
    assert "s3cret" not in str(caught.value)


def test_two_wrong_settings_are_both_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPIDER_BOARD_RETRIES", "-1")
    monkeypatch.setenv("SPIDER_READ_TIMEOUT_SECONDS", "0")
    with pytest.raises(WrongSetting, match=r"SPIDER_READ_TIMEOUT_SECONDS: .*; SPIDER_BOARD_RETRIES: "):
        SpiderSettings.load()


def test_cookies_come_from_the_text_or_the_file_but_not_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert BossSettings.load().read_cookies("zhipin.com") == {}
    (tmp_path / "boss.txt").write_text("wt2=file", encoding="utf-8")
    monkeypatch.setenv("BOSS_COOKIE_FILE", "boss.txt")
    assert BossSettings.load().read_cookies("zhipin.com") == {"wt2": "file"}
    monkeypatch.setenv("BOSS_COOKIE", "wt2=text")
    with pytest.raises(WrongSetting, match="BOSS_COOKIE: give"):
        BossSettings.load().read_cookies("zhipin.com")
    monkeypatch.delenv("BOSS_COOKIE_FILE")
    assert BossSettings.load().read_cookies("zhipin.com") == {"wt2": "text"}


def test_an_unusable_cookie_file_is_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOSS_COOKIE_FILE", "nowhere.txt")
    with pytest.raises(WrongSetting, match=r"BOSS_COOKIE_FILE: cannot be read: nowhere\.txt"):
        BossSettings.load().read_cookies("zhipin.com")


def test_every_setting_is_described() -> None:
    fields = {**SpiderSettings.model_fields, **BossSettings.model_fields}
    assert [name for name, field in fields.items() if not field.description] == []

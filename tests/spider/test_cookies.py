"""The operator's cookies, as people have them."""

import json
from pathlib import Path

import pytest

from jobs_spider.cookies import BadCookies, read_cookie_file, read_header_line

SECRET = "s3cret-value"


def saved(folder: Path, text: str) -> Path:
    path = folder / "cookies.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("line", ["Cookie: wt2=a=; bst=b", "wt2=a=;bst=b;", "cookie:wt2=a=; bst=b\n"])
def test_a_header_line_is_read_with_or_without_its_name(line: str) -> None:
    assert read_header_line(line) == {"wt2": "a=", "bst": "b"}


def test_a_file_may_hold_the_header_line(tmp_path: Path) -> None:
    assert read_cookie_file(saved(tmp_path, "\ufeffCookie: wt2=a"), "zhipin.com") == {"wt2": "a"}


def test_a_browser_export_gives_the_cookies_of_this_board_only(tmp_path: Path) -> None:
    export = [
        {"name": "wt2", "value": "a", "domain": ".zhipin.com", "secure": True},
        {"name": "bst", "value": "b", "domain": "www.zhipin.com"},
        {"name": "free", "value": "c"},
        {"name": "other", "value": "d", "domain": ".evilzhipin.com"},
    ]
    cookies = read_cookie_file(saved(tmp_path, json.dumps(export)), "zhipin.com")
    assert cookies == {"wt2": "a", "bst": "b", "free": "c"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "; ;",
        SECRET,
        f".zhipin.com\tTRUE\t/\tFALSE\t0\twt2\t{SECRET}",
        f"wt2={SECRET}\nbst=b",
        f"wt2={SECRET}中",
        "[]",
        f"[{SECRET}",
        f'["{SECRET}"]',
        f'[{{"name": "{SECRET}"}}]',
        f'[{{"name": "a", "value": "{SECRET}", "domain": "elsewhere.example"}}]',
    ],
)
def test_unusable_cookies_are_refused_without_showing_them(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadCookies) as caught:
        read_cookie_file(saved(tmp_path, text), "zhipin.com")
    assert SECRET not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCookies, match=r"nowhere\.txt"):
        read_cookie_file(tmp_path / "nowhere.txt", "zhipin.com")

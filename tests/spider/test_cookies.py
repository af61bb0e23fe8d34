"""The operator's cookies, as people have them."""

import json
import os
from pathlib import Path

import pytest

from jobs_spider.cookies import BadCookies, Cookie, is_readable_by_others, read_cookie_file, read_header_line

SECRET = "s3cret-value"


def saved(folder: Path, text: str) -> Path:
    path = folder / "cookies.txt"
    path.write_text(text, encoding="utf-8")
    return path


def named(cookies: list[Cookie]) -> dict[str, str]:
    return {cookie.name: cookie.value for cookie in cookies}


@pytest.mark.parametrize("line", ["Cookie: wt2=a=; bst=b", "wt2=a=;bst=b;", "cookie:wt2=a=; bst=b\n"])
def test_a_header_line_is_read_with_or_without_its_name(line: str) -> None:
    assert named(read_header_line(line)) == {"wt2": "a=", "bst": "b"}


def test_a_file_may_hold_the_header_line(tmp_path: Path) -> None:
    assert named(read_cookie_file(saved(tmp_path, "\ufeffCookie: wt2=a"), "zhipin.com")) == {"wt2": "a"}


def test_a_browser_export_gives_the_cookies_of_this_board_only(tmp_path: Path) -> None:
    export = [
        {"name": "wt2", "value": "a", "domain": ".zhipin.com", "secure": True},
        {"name": "bst", "value": "b", "domain": "www.zhipin.com"},
        {"name": "free", "value": "c"},
        {"name": "other", "value": "d", "domain": ".evilzhipin.com"},
    ]
    cookies = read_cookie_file(saved(tmp_path, json.dumps(export)), "zhipin.com")
    assert named(cookies) == {"wt2": "a", "bst": "b", "free": "c"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "; ;",
        SECRET,
        f".zhipin.com\tTRUE\t/\tFALSE\t0\twt2 {SECRET}",
        f".zhipin.com\tTRUE\t/\tFALSE\tsoon\twt2\t{SECRET}",
        f".elsewhere.example\tTRUE\t/\tFALSE\t0\twt2\t{SECRET}",
        "# Netscape HTTP Cookie File",
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


def test_a_cookies_txt_gives_the_cookies_of_this_board_with_their_ends(tmp_path: Path) -> None:
    lines = [
        "# Netscape HTTP Cookie File",
        "",
        ".zhipin.com\tTRUE\t/\tTRUE\t1900000000\twt2\ta=;b",
        "#HttpOnly_www.zhipin.com\tFALSE\t/\tFALSE\t0\tbst\t",
        ".evilzhipin.com\tTRUE\t/\tTRUE\t0\tother\td",
    ]
    cookies = read_cookie_file(saved(tmp_path, "\n".join(lines)), "zhipin.com")
    assert cookies == [Cookie("wt2", "a=;b", 1900000000.0), Cookie("bst", "", None)]


def test_an_export_tells_when_a_cookie_ends(tmp_path: Path) -> None:
    export = [
        {"name": "wt2", "value": "a", "expirationDate": 1900000000.5},
        {"name": "bst", "value": "b", "expires": -1},
        {"name": "odd", "value": "c", "expires": "Session"},
    ]
    cookies = read_cookie_file(saved(tmp_path, json.dumps(export)), "zhipin.com")
    assert [cookie.expires for cookie in cookies] == [1900000000.5, None, None]


def test_a_cookie_never_shows_its_value() -> None:
    assert SECRET not in f"{Cookie('wt2', SECRET)}"


@pytest.mark.skipif(os.name != "posix", reason="modes tell who may read a file on POSIX only")
@pytest.mark.parametrize(("mode", "open_to_others"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_cookie_file_that_others_can_read_is_recognised(tmp_path: Path, mode: int, open_to_others: bool) -> None:
    path = saved(tmp_path, "wt2=a")
    path.chmod(mode)
    assert is_readable_by_others(path) is open_to_others


def test_a_missing_cookie_file_is_not_open_to_others(tmp_path: Path) -> None:
    assert not is_readable_by_others(tmp_path / "nowhere.txt")

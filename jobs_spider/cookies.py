"""The operator's cookies, read from a header line or a browser extension's export. Their values are never shown."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NETSCAPE_FIELDS = 7
# How extensions mark cookies that scripts cannot see; every other line with # is a comment.
HTTP_ONLY = "#HttpOnly_"


class BadCookies(ValueError):
    """The cookie text or file cannot be used; the message never holds a value."""


@dataclass(frozen=True)
class Cookie:
    """One cookie. `expires` is in seconds since 1970; None when it is not told, or ends with the browser."""

    name: str
    value: str = field(repr=False)
    expires: float | None = None


def read_header_line(text: str) -> list[Cookie]:
    """`Cookie: a=1; b=2`, with or without the name of the header."""
    line = text.strip()
    if line[:7].lower() == "cookie:":
        line = line[7:]
    cookies = []
    for part in filter(None, (part.strip() for part in line.split(";"))):
        name, separator, value = part.partition("=")
        if not separator:
            raise BadCookies(
                "is no Cookie header line (name=value; name=value), no JSON list of cookies and no cookies.txt"
            )
        cookies.append(Cookie(name.strip(), value.strip()))
    return _checked(cookies)


def read_cookie_file(path: Path, domain: str) -> list[Cookie]:
    """A header line; or a JSON list or cookies.txt, of which the cookies of `domain` are taken."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCookies(f"cannot be read: {path} ({type(error).__name__})") from None
    if text.lstrip().startswith("["):
        return _checked(_read_export(text, domain))
    lines = _netscape_lines(text)
    if lines and all(len(fields) == NETSCAPE_FIELDS for fields in lines):
        return _checked(_read_netscape(lines, domain))
    return read_header_line(text)


def is_readable_by_others(path: Path) -> bool:
    """Whether other users of the machine can read the file. On Windows its mode says nothing about that."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & 0o044)
    except OSError:
        return False


def is_header_text(text: str) -> bool:
    """Whether a header can carry this text (visible ASCII and spaces)."""
    return text.isascii() and text.isprintable()


def _read_export(text: str, domain: str) -> list[Cookie]:
    try:
        entries: list[Any] = json.loads(text)
        return [
            Cookie(str(entry["name"]), str(entry["value"]), _moment(entry.get("expirationDate", entry.get("expires"))))
            for entry in entries
            if _belongs(str(entry.get("domain") or domain), domain)
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        # `from None`: the parser's own message quotes the text that it failed on.
        raise BadCookies("looks like a JSON list, but not of cookies with name and value") from None


def _netscape_lines(text: str) -> list[list[str]]:
    lines = (line.removeprefix(HTTP_ONLY) for line in text.splitlines() if line.strip())
    return [line.split("\t") for line in lines if not line.startswith("#")]


def _read_netscape(lines: list[list[str]], domain: str) -> list[Cookie]:
    """domain, subdomains too, path, only over https, expires, name, value."""
    try:
        return [
            Cookie(name, value, _moment(float(expires)))
            for owner, _, _, _, expires, name, value in lines
            if _belongs(owner, domain)
        ]
    except ValueError:
        raise BadCookies("looks like a cookies.txt, but the fifth field of a line is no time") from None


def _moment(value: object) -> float | None:
    """A time, which several exporters write as 0 or -1 when there is none."""
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _belongs(cookie_domain: str, domain: str) -> bool:
    name = cookie_domain.lstrip(".").lower()
    return name == domain or name.endswith(f".{domain}")


def _checked(cookies: list[Cookie]) -> list[Cookie]:
    if not cookies:
        raise BadCookies("holds no cookie for this board")
    if not all(is_header_text(cookie.name + cookie.value) for cookie in cookies):
        raise BadCookies("holds characters that cannot be sent in a header: copy it again, without line breaks")
    return cookies

"""The operator's cookies, read from a header line or a browser extension's export. Their values are never shown."""

import json
from pathlib import Path
from typing import Any


class BadCookies(ValueError):
    """The cookie text or file cannot be used; the message never holds a value."""


def read_header_line(text: str) -> dict[str, str]:
    """`Cookie: a=1; b=2`, with or without the name of the header."""
    line = text.strip()
    if line[:7].lower() == "cookie:":
        line = line[7:]
    cookies: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in line.split(";"))):
        name, separator, value = part.partition("=")
        if not separator:
            raise BadCookies("is neither a Cookie header line (name=value; name=value) nor a JSON list of cookies")
        cookies[name.strip()] = value.strip()
    return _checked(cookies)


def read_cookie_file(path: Path, domain: str) -> dict[str, str]:
    """A header line, or a JSON list of which the cookies of `domain` are taken."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCookies(f"cannot be read: {path} ({type(error).__name__})") from None
    if text.lstrip().startswith("["):
        return _checked(_read_export(text, domain))
    return read_header_line(text)


def _read_export(text: str, domain: str) -> dict[str, str]:
    try:
        entries: list[Any] = json.loads(text)
        return {
            str(entry["name"]): str(entry["value"])
            for entry in entries
            if _belongs(str(entry.get("domain") or domain), domain)
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        # `from None`: the parser's own message quotes the text that it failed on.
        raise BadCookies("looks like a JSON list, but not of cookies with name and value") from None


def _belongs(cookie_domain: str, domain: str) -> bool:
    name = cookie_domain.lstrip(".").lower()
    return name == domain or name.endswith(f".{domain}")


def _checked(cookies: dict[str, str]) -> dict[str, str]:
    if not cookies:
        raise BadCookies("holds no cookie for this board")
    if not all(is_header_text(name + value) for name, value in cookies.items()):
        raise BadCookies("holds characters that cannot be sent in a header: copy it again, without line breaks")
    return cookies


def is_header_text(text: str) -> bool:
    """Whether a header can carry this text (visible ASCII and spaces)."""
    return text.isascii() and text.isprintable()

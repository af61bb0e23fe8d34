"""The Chromium that tests use: the one that `CHROMIUM` names, else Debian's, installed when it is missing."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60
# Nothing but the pages of the tests: no updates, no sign-in. Root cannot have the sandbox.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def program() -> str:
    """Path of the browser."""
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium")
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=True, env=environment)
        found = shutil.which("chromium")
    if not found or not shutil.which(found):
        raise RuntimeError("the tests need Chromium: install chromium, or name the program in CHROMIUM")
    return found


@contextmanager
def running_chromium(profile: Path) -> Iterator[str]:
    """The CDP address of a browser without a window, as an operator would have one running with a window."""
    command = [program(), "--headless", *ARGUMENTS, f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    # In a group of its own: the browser is several processes, and a wrapper script may stand before them.
    browser = subprocess.Popen(
        [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield f"http://127.0.0.1:{_port(browser, profile / 'DevToolsActivePort')}"
    finally:
        browser.terminate()
        browser.wait(timeout=START_SECONDS)


def _port(browser: "subprocess.Popen[bytes]", told: Path) -> int:
    """Where it listens, which it writes down in its profile."""
    deadline = time.monotonic() + START_SECONDS
    while not (told.is_file() and told.read_text()):
        if browser.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("Chromium did not start")
        time.sleep(0.05)
    return int(told.read_text().splitlines()[0])

"""The real service in a process of its own, as `python -m app` starts it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.mariadb import free_port

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60


class ServiceProcess:
    """A running service; its log is in `log`."""

    def __init__(self, database_url: str, log: Path, module: str = "app", **settings: str) -> None:
        self.port = int(settings.pop("PORT", free_port()))
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        environment = {**os.environ, **settings, "DATABASE_URL": database_url, "PORT": str(self.port)}
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module], cwd=ROOT, env=environment, stdout=output, stderr=output
            )

    def await_ready(self) -> "ServiceProcess":
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the service did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Stop it as a supervisor does and return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=30)


@contextmanager
def running_service(database_url: str, log: Path, module: str = "app", **settings: str) -> Iterator[ServiceProcess]:
    service = ServiceProcess(database_url, log, module, **settings)
    try:
        yield service.await_ready()
    finally:
        if service.process.poll() is None:
            service.stop()

"""Requests made up from the service's own OpenAPI document, valid and not."""

import subprocess
import sys
from pathlib import Path

from tests.service_process import ServiceProcess

EXAMPLES = 40
PROGRAM = Path(sys.executable).with_name("schemathesis")


def test_no_request_is_answered_otherwise_than_the_document_says(service: ServiceProcess, tmp_path: Path) -> None:
    """All checks that there are: no 500; status, type, headers and body as described; good data taken, bad refused."""
    # The same requests in each run: what a longer one finds becomes a test of its own.
    options = ["--checks=all", f"--max-examples={EXAMPLES}", "--seed=1", "--continue-on-failure", "--no-color"]
    command = [str(PROGRAM), "run", f"{service.url}/openapi.json", *options]
    found = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "No issues found" in found.stdout

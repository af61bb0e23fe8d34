"""Rules about the repository as a whole."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 300


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[Path]:
    return [path for folder in ("app", "jobs_spider") for path in (ROOT / folder).rglob("*.py")]


def test_aerich_reads_the_same_from_both_files() -> None:
    tables = [
        tomllib.loads((ROOT / name).read_text(encoding="utf-8"))["tool"]["aerich"]
        for name in ("aerich.ini", "pyproject.toml")
    ]
    assert tables[0] == tables[1]


def test_the_import_rule_holds() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


def test_no_board_imports_another() -> None:
    boards = {"boss", "qcwy", "zhilian"}
    for path in (ROOT / "jobs_spider").rglob("*.py"):
        own = path.parent.name
        if own in boards:
            imported = {
                node.module.split(".")[1]
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jobs_spider.")
            }
            assert imported & boards <= {own}, path


def test_no_file_names_a_package_registry_or_a_place_on_somebodys_machine() -> None:
    # Put together here, so that this file does not name them itself.
    unwanted = ["pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "deb.debian" + ".org"]
    unwanted += ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"]
    for path in tracked_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        assert [word for word in unwanted if word in text] == [], path


def test_each_module_says_what_it_is_for() -> None:
    silent = [
        path for path in modules() if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_no_module_is_too_long_to_read() -> None:
    assert [path for path in modules() if len(path.read_text("utf-8").splitlines()) > MOST_LINES] == []


def test_both_readmes_name_the_same_commands_and_calls() -> None:
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    code = [[line.split("#")[0].strip() for line in text.splitlines() if line.startswith((".venv", "curl", "make"))]
            for text in (english, chinese)]  # fmt: skip
    assert code[0] == code[1]
    assert english.count("| POST `") == chinese.count("| POST `")

"""`docs/complaints.md` names tests; they are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_complaint_and_each_rule_names_a_test_that_is_there() -> None:
    rows = [
        line for line in (ROOT / "docs/complaints.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    named = [
        re.fullmatch(r".*\| `(.+\.py)::(\w+)` \|", row) for row in rows if not re.match(r"\|(-|.*\| test \|)", row)
    ]
    assert all(named), rows
    for found in filter(None, named):
        tree = ast.parse((ROOT / found[1]).read_text(encoding="utf-8"))
        tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert found[2] in tests, found[0]

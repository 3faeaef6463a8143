"""What the linter cannot see: decisions and API types touch nothing outside themselves."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PURE = sorted(
    path
    for folder in ("kubekit/api", "compute/api", "compute/decide")
    for path in (SOURCE / folder).rglob("*.py")
)
FORBIDDEN = {"open", "input", "print", "eval", "exec", "__import__", "globals", "id"}
CLOCKS = {"now", "utcnow", "today"}


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_call_does_io(path):
    """No file, no terminal, no clock and no interpreter trick is called in api/ or decide/."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    plain = {c.func.id for c in calls if isinstance(c.func, ast.Name)}
    attributes = {c.func.attr for c in calls if isinstance(c.func, ast.Attribute)}

    assert not plain & FORBIDDEN
    assert not attributes & CLOCKS


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_files_stay_small(path):
    """No file of the product passes 400 lines: by then there is a noun to split by."""
    assert len(path.read_text().splitlines()) <= 400

"""The numbers of the page about requeues are those of the code."""

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/requeue.md").read_text()
RUNTIME, PRODUCT = PAGE.split("## In the product")
NAMED = re.compile(r"`([\w.]+)` = ([\d., ]*\d)")


def rows(text: str, columns: int) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [row for row in cells if len(row) == columns and row[-1].startswith("`")]


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


@pytest.mark.parametrize("row", rows(RUNTIME, 4), ids=lambda row: row[0])
def test_the_constants_of_the_runtime_are_as_the_page_says(row):
    module = import_module("kubekit." + row[3].strip("`").removesuffix(".py").replace("/", "."))
    for name, values in NAMED.findall(row[2]):
        holder, _, attribute = name.rpartition(".")
        value: Any = getattr(getattr(module, holder)() if holder else module, attribute)
        assert numbers(values) == ([*value] if isinstance(value, tuple) else [value]), name


@pytest.mark.parametrize("row", rows(PRODUCT, 3), ids=lambda row: row[2])
def test_the_waits_of_the_product_are_as_the_page_says(row):
    file = ROOT / "src/compute" / row[2].strip("`")
    known = set(_seconds(ast.parse(file.read_text())))
    factor = 60.0 if row[1].endswith("min") else 1.0
    for number in numbers(row[1].removesuffix("min")):
        assert number * factor in known, f"{file} has no wait of {number * factor:g} s"


def test_every_file_that_names_a_wait_of_its_own_is_on_the_page():
    for file in (ROOT / "src/compute").rglob("*.py"):
        text = file.read_text()
        if re.search(r"^_\w+: Final = Result\(", text, re.MULTILINE):
            assert file.relative_to(ROOT / "src/compute").as_posix() in PRODUCT


def _seconds(tree: ast.AST) -> list[float]:
    """Every number of seconds that is written in a module."""
    units = {"seconds": 1.0, "minutes": 60.0, "milliseconds": 0.001, "hours": 3600.0}
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    plain = [float(value) for value in found if isinstance(value, float)]
    calls = [
        keyword.value.value * units[keyword.arg]
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword)
        and keyword.arg in units
        and isinstance(keyword.value, ast.Constant)
        and isinstance(keyword.value.value, (int, float))
    ]
    return [*plain, *calls]

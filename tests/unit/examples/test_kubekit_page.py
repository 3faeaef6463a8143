"""The page about kubekit shows the files of the example as they are."""

import re
from pathlib import Path

import pytest

import kubekit.api
import kubekit.cel
import kubekit.client
import kubekit.plane
import kubekit.runtime

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/kubekit.md").read_text()
BLOCK = re.compile(r"^```python (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FACADES = (kubekit.api, kubekit.cel, kubekit.client, kubekit.plane, kubekit.runtime)


@pytest.mark.parametrize("file", dict.fromkeys(file for file, _ in BLOCK.findall(PAGE)))
def test_the_code_of_the_page_is_the_code_of_the_file(file):
    """The blocks of a file, one after the other, are the whole file; blank lines aside."""
    shown = "".join(code for named, code in BLOCK.findall(PAGE) if named == file)
    assert _lines(shown) == _lines((ROOT / file).read_text())


def test_every_python_block_names_its_file():
    assert len(BLOCK.findall(PAGE)) == len(re.findall(r"^```python", PAGE, re.MULTILINE)) == 4


@pytest.mark.parametrize("package", FACADES, ids=lambda package: package.__name__)
def test_the_page_names_public_names_of_each_package(package):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{package.__name__}`"))
    names = re.findall(r"`(\w+)`", row.split("|")[3])
    assert names
    assert set(names) <= set(package.__all__)


def _lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]

"""The first minute: a machine that lacks something says so in one sentence."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLD = '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2\n'

pytestmark = pytest.mark.e2e


@pytest.fixture
def checkout(tmp_path):
    """A fresh checkout: the menu and what it needs to set up."""
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    return tmp_path


@pytest.fixture
def path(tmp_path):
    """A PATH with nothing on it but make and a shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("make", "sh"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    return folder


@pytest.mark.parametrize(("script", "found"), [(None, "no python3"), (OLD, "Python 3.9.2")])
def test_a_machine_without_a_new_python(checkout, path, script, found):
    """An old Python, or none, is named in one sentence, and nothing is made."""
    if script:
        (path / "python3").write_text(script)
        (path / "python3").chmod(0o755)
    done = subprocess.run(
        ["make", "demo"],
        cwd=checkout,
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )

    sentence, *rest = done.stderr.splitlines()
    assert sentence == f"datum-compute needs Python 3.11 or newer on the PATH (found: {found})."
    assert [line.partition(":")[0] for line in rest] == ["make"]
    assert not (checkout / ".venv").exists()

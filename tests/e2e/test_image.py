"""The files of the container image, made as the Containerfile makes them, and run without an engine.

Marked as a test of peers, since it takes seconds and installs packages.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import image

ROOT = Path(__file__).parents[2]
IMAGE_USER = 65532

pytestmark = [pytest.mark.e2e, pytest.mark.peer]


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """A tree that every user can read and no user can write."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    image.build(directory / "first" / image.PREFIX)
    application = directory / "first" / image.PREFIX
    for path in (application, *application.rglob("*")):
        path.chmod(path.stat().st_mode & 0o555)
    yield application
    for path in (application, *application.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(directory)


def test_two_builds_are_the_same_files(tree: Path, tmp_path: Path) -> None:
    """Names, modes, contents and times, wherever the tree is made and whenever."""
    other = tmp_path / "elsewhere" / image.PREFIX
    image.build(other)
    assert image.digest(other) == image.digest(tree)
    modes = {path.stat().st_mode & 0o777 for path in other.rglob("*")}
    assert modes == {0o644, 0o755}
    assert {int(path.stat().st_mtime) for path in other.rglob("*")} == {image.EPOCH}


@pytest.mark.parametrize(
    "command", [["compute", "version", "--client"], ["compute-manager", "--help"]], ids="-".join
)
def test_the_commands_run_as_another_user_from_a_tree_that_cannot_be_written(
    tree: Path, command: list[str]
) -> None:
    """Without a home, a folder for temporary files or variables, and without a trace."""
    before = image.digest(tree)
    python, user = _python()
    done = subprocess.run(
        [python, "-I", str(tree / "bin" / command[0]), *command[1:]],
        cwd="/",
        env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    assert image.digest(tree) == before


def test_the_bill_of_materials_lists_exactly_what_is_installed(tree: Path) -> None:
    """Each package with the version of the lock, and the product itself."""
    bill = json.loads((tree / image.SBOM).read_text())
    listed = {(part["name"], part["version"]) for part in bill["components"]}
    product = bill["metadata"]["component"]
    folders = (path.name.removesuffix(".dist-info") for path in tree.glob("lib/*.dist-info"))
    installed = {tuple(re.sub("_", "-", name).rsplit("-", 1)) for name in folders}
    assert installed == listed | {(product["name"], product["version"])}
    assert all(part["externalReferences"] for part in bill["components"])


def test_nothing_in_the_tree_names_the_machine_that_made_it(tree: Path) -> None:
    """Neither the folder of the sources nor that of the build."""
    places = [str(ROOT).encode(), str(tree.parents[1]).encode()]
    named = [
        path
        for path in tree.rglob("*")
        if path.is_file() and any(place in path.read_bytes() for place in places)
    ]
    assert named == []


PAGE = (ROOT / "docs/operating/image.md").read_text()
ENGINE = """#!/bin/sh
case "$1" in
create) echo container ;;
export) exec tar -c -C {tree} --transform 's,^[.],{prefix},' . ;;
*) exit 1 ;;
esac
"""


def test_the_page_verifies_an_image(tree: Path, tmp_path: Path) -> None:
    """The digest of the files in the image is that of the files that were just made."""
    scripts = {
        "podman": ENGINE.format(tree=shlex.quote(str(tree)), prefix=image.PREFIX),
        "python3": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n',
    }
    output = _run_page("tools/image.py digest", tmp_path, scripts)
    expected, found = (line for line in output.splitlines() if line.startswith("sha256:"))
    assert expected == found


def test_the_page_makes_a_bundle_of_the_manifests(tmp_path: Path) -> None:
    """The same bytes each time."""
    contents = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        _run_page("gzip -n", tmp_path / name, {"oras": "#!/bin/sh\n"})
        contents.append((tmp_path / name / "config.tgz").read_bytes())
    assert contents[0] == contents[1]
    assert len(contents[0]) > 1000


def _run_page(command: str, directory: Path, scripts: dict[str, str]) -> str:
    """The output of the block with this command. Its temporary files are in the directory."""
    programs = directory / "bin"
    programs.mkdir()
    for name, text in scripts.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (block,) = (each for each in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if command in each)
    return subprocess.run(
        ["sh", "-ec", block.replace("/tmp/", f"{directory}/")],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _python() -> tuple[str, int | None]:
    """A Python of this version that another user can run, and that user; else this one as this user."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (os.path.realpath(sys.executable), shutil.which(name, path=os.defpath)):
        if python is not None and os.geteuid() == 0 and _runs(python):
            return python, IMAGE_USER
    return sys.executable, None


def _runs(python: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-I", "-c", ""],
            check=False,
            user=IMAGE_USER,
            group=IMAGE_USER,
            extra_groups=[],
        )
    except PermissionError:
        return False
    return done.returncode == 0

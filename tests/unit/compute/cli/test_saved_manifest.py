"""`--save`: which files are written, and which are refused before a deploy."""

import os
from pathlib import Path

import pytest

from compute.cli.deploy.saved_manifest import manifest_to_save
from compute.cli.exits import Failure
from tests.support.compute.builders import workload


def test_a_file_that_has_it_already_is_left_alone(tmp_path: Path):
    """So that its time does not change; any other content needs an answer."""
    file = tmp_path / "web.yaml"
    saved = manifest_to_save(workload(), str(file), yes=False)
    assert saved is not None
    saved.write()

    assert manifest_to_save(workload(), str(file), yes=False) is None
    file.write_bytes(b"\xff")
    with pytest.raises(Failure, match="has another content, and is not replaced without -y"):
        manifest_to_save(workload(), str(file), yes=False)
    assert manifest_to_save(workload(), str(file), yes=True) == saved


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing/web.yaml", "cannot be written: there is no such folder, or no permission"),
        (".", "cannot be read: Is a directory"),
    ],
)
def test_a_file_that_cannot_be_written(tmp_path: Path, path: str, why: str):
    """It is refused before the deploy, which would otherwise end with it."""
    file = os.path.normpath(tmp_path / path)
    with pytest.raises(Failure) as error:
        manifest_to_save(workload(), file, yes=True)

    assert str(error.value) == (
        f"--save: {file} {why}; give another file by --save=FILE; nothing was changed"
    )

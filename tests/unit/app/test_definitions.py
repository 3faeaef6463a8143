"""Kinds from a folder."""

import pytest

from compute.app import definitions
from compute.app.definitions import BadFile
from tests.kites import DEFINITION

FOREIGN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"


@pytest.mark.parametrize("name", ["kites.yaml", "kites.yml"])
def test_definitions_are_found(tmp_path, name):
    """Every document of every manifest counts that is a definition; the rest does not matter."""
    (tmp_path / name).write_text(f"{FOREIGN}---\n{DEFINITION}---\n")
    (tmp_path / "README.md").write_text("{")

    assert [kind.resource.plural for kind in definitions.read(tmp_path)] == ["kites"]


def test_a_folder_that_is_not_there(tmp_path):
    """It is named."""
    with pytest.raises(BadFile, match=r"none: cannot be read: No such file or directory"):
        definitions.read(tmp_path / "none")


def test_a_file_that_cannot_be_read(tmp_path):
    """A broken link, say, is named."""
    (tmp_path / "kites.yaml").symlink_to(tmp_path / "none")
    with pytest.raises(BadFile, match=r"kites\.yaml: cannot be read"):
        definitions.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [", r"kites\.yaml, line"),
        ("kind: CustomResourceDefinition", r"kites\.yaml: "),
        (FOREIGN, "there is no CustomResourceDefinition"),
        ("- 1", "there is no CustomResourceDefinition"),
    ],
    ids=["no yaml", "no spec", "another kind", "a list"],
)
def test_files_that_are_refused(tmp_path, content, words):
    """The file is named, and what is wrong in it."""
    (tmp_path / "kites.yaml").write_text(content)
    with pytest.raises(BadFile, match=words):
        definitions.read(tmp_path)

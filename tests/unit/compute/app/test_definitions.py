"""The definitions that a plane starts with."""

import pytest

from compute.app import definitions
from compute.app.definitions import BadFile
from tests.support.kubekit.kites import DEFINITION

FOREIGN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"


@pytest.mark.parametrize("name", ["kites.yaml", "kites.yml"])
def test_definitions_are_found(tmp_path, name):
    """Every document of every manifest counts that is a definition; the rest does not matter."""
    (tmp_path / name).write_text(f"{FOREIGN}---\n{DEFINITION}---\n")
    (tmp_path / "README.md").write_text("{")

    found = definitions.read(tmp_path)

    assert [document["spec"]["names"]["plural"] for document in found] == ["kites"]


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
    ("content", "message"),
    [
        ("a: [", r"kites\.yaml, line"),
        ("kind: CustomResourceDefinition", r"kites\.yaml: "),
        (FOREIGN, "there is no CustomResourceDefinition"),
        ("- 1", "there is no CustomResourceDefinition"),
    ],
    ids=["no yaml", "no spec", "another kind", "a list"],
)
def test_files_that_are_refused(tmp_path, content, message):
    """The file is named, and what is wrong in it."""
    (tmp_path / "kites.yaml").write_text(content)
    with pytest.raises(BadFile, match=message):
        definitions.read(tmp_path)


def named(name, scope="Namespaced", versions=("v1",)):
    """As much of a definition as `merged` reads."""
    served = [{"name": version, "served": True} for version in versions]
    return {"metadata": {"name": name}, "spec": {"scope": scope, "versions": served}}


def test_definitions_are_merged_by_name():
    """A given definition replaces ours, if it serves at least what ours serves."""
    more = named("a", versions=("v1", "v2"))

    assert definitions.merged([named("a"), named("b")], [more, named("c")]) == [
        more,
        named("b"),
        named("c"),
    ]


@pytest.mark.parametrize("other", [named("a", scope="Cluster"), named("a", versions=("v2",))])
def test_ours_are_not_replaced_by_something_else(other):
    """Our objects would be shown as what they are not, or not at all."""
    with pytest.raises(BadFile, match="a is served already, in another version or scope"):
        definitions.merged([named("a")], [other])

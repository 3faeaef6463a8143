"""What can be built, and where it is kept."""

from pathlib import Path

import pytest

from tools.peers import catalog


def named(*names):
    return [binary.name for binary in catalog.chosen(names)]


def test_all_is_the_default():
    """Without a name everything is built, each binary once."""
    assert named() == list(catalog.BINARIES)
    assert named("all", "etcd") == list(catalog.BINARIES)


def test_a_set_is_a_name_for_several():
    """Sets and names can be mixed; the order is the catalog's, so that sources stay together."""
    assert named("kubectl", "etcd") == ["etcd", "kubectl"]
    assert named("kubernetes") == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
    ]


def test_an_unknown_name():
    """It is refused with the names there are."""
    with pytest.raises(catalog.Unknown, match=r"there is no kubelet; there are etcd, .*karmada"):
        named("kubelet")


@pytest.mark.parametrize(
    ("variables", "root"),
    [
        ({"DATUM_PEERS": "/one", "XDG_CACHE_HOME": "/two"}, "/one"),
        ({"XDG_CACHE_HOME": "/two"}, "/two/datum-compute/peers"),
        ({}, f"{Path.home()}/.cache/datum-compute/peers"),
    ],
    ids=["given", "cache", "home"],
)
def test_where_they_are_kept(variables, root):
    """In a folder of their versions, where the user says, or in the user's cache folder."""
    folder = catalog.folder(variables)

    assert str(folder.parent) == root
    assert len(folder.name) == 12


def test_what_is_missing(tmp_path):
    """Only a file that has the name counts."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "etcd").touch()
    (tmp_path / "bin" / "kubectl.unready").touch()

    lacking = catalog.missing(catalog.chosen(["etcd", "kubectl"]), tmp_path)

    assert [binary.name for binary in lacking] == ["kubectl"]

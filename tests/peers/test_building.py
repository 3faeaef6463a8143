"""What is checked before a build."""

from dataclasses import replace

from tools.peers import catalog
from tools.peers.building import Go, shortage

ETCD = catalog.BINARIES["etcd"]


def greedy(gigabytes):
    return [replace(ETCD, source=replace(ETCD.source, gigabytes=gigabytes))]


def test_a_disk_that_may_be_too_small(tmp_path):
    """The warning says how much there is, for what, and how much may be needed."""
    go = Go("go", (1, 26, 0), fetches=False, caches=(tmp_path / "not" / "there",))

    assert shortage(go, tmp_path, greedy(0.0)) == ""
    warning = shortage(go, tmp_path, greedy(1e9))
    assert warning.endswith(f" GB are free for {tmp_path}; 1000000000.0 may be needed")


def test_a_source_is_counted_once(tmp_path):
    """Binaries of one source share what is downloaded and compiled for it."""
    go = Go("go", (1, 26, 0), fetches=False, caches=())

    warning = shortage(go, tmp_path, greedy(1e9) * 3)
    assert warning.endswith("1000000000.0 may be needed")

"""The modules that peers are built in."""

from dataclasses import replace

from tools.peers import catalog, wrappers
from tools.peers.wrappers import Wrapper

ORIGINAL = """\
module k8s.io/kubernetes

go 1.24.0

godebug default=go1.24

godebug (
	madvdontneed=1
)

require (
	github.com/blang/semver/v4 v4.0.0
	k8s.io/api v0.0.0
	k8s.io/kube-openapi v0.0.0-20250710124328-f3f2b991d03b
	k8s.io/mount-utils v0.0.0 // indirect
)

exclude github.com/old/thing v1.0.0

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/mount-utils => ./staging/src/k8s.io/mount-utils
)

replace k8s.io/other => ./other
"""
COPIED = """\
module peers

go 1.24.0



require (
	github.com/blang/semver/v4 v4.0.0
	k8s.io/api v0.34.4
	k8s.io/kube-openapi v0.0.0-20250710124328-f3f2b991d03b
	k8s.io/mount-utils v0.34.4 // indirect
)

exclude github.com/old/thing v1.0.0



require k8s.io/kubernetes v1.34.4

replace (
	k8s.io/api => k8s.io/api v0.34.4
	k8s.io/mount-utils => k8s.io/mount-utils v0.34.4
)
"""


def test_a_copy_requires_what_the_module_kept_in_folders():
    """Folders become published versions; a pseudo-version is left alone, and so are the sums."""
    made = wrappers.copied(catalog.KUBERNETES, Wrapper(ORIGINAL, "sums"))

    assert made == Wrapper(COPIED, "sums")


def test_a_copy_of_a_module_without_folders_replaces_nothing():
    """Then the copy differs in its name and in requiring the module itself."""
    source = replace(catalog.KWOK, version="v9.9.9")
    made = wrappers.copied(source, Wrapper("module sigs.k8s.io/kwok\n\ngo 1.24.0\n"))

    assert made.go_mod == "module peers\n\ngo 1.24.0\n\nrequire sigs.k8s.io/kwok v9.9.9\n"


def test_a_plain_module_requires_the_source_alone():
    """Everything else follows from what the source requires."""
    made = wrappers.plain(catalog.ETCD)

    assert made.go_mod == (
        "module peers\n\ngo 1.23.0\n\nrequire (\n"
        "\tgo.etcd.io/etcd/server/v3 v3.6.4\n\tgo.etcd.io/etcd/api/v3 v3.6.4\n)\n"
    )

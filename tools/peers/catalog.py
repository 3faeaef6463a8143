"""What can be built: which binaries, of which packages, of which modules, at which versions."""

import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_KUBERNETES = "v1.34.4"
_KARMADA = "v1.16.0"


@dataclass(frozen=True, slots=True)
class Source:
    """A module that binaries are built from, inside a module of our own that requires it.

    A module's own ``replace`` lines count only where it is the main one. So ours is ``copied`` from
    its go.mod where those lines matter, and what stands there as v0.0.0 is required at ``staging``.
    """

    name: str
    module: str
    version: str
    go: tuple[int, int, int]
    gigabytes: float
    """What its download and its build take in the caches of Go, the first time."""
    copied: bool = True
    staging: str = ""
    beside: tuple[str, ...] = ()
    """Modules to require at the same version."""
    stamps: tuple[str, ...] = ()
    """Variables that the linker sets, so that the binary knows its version."""
    files: tuple[str, ...] = ()
    """Patterns of files of the module that its programs need beside them."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program, the package of its `main`, and how it prints its version."""

    name: str
    source: Source
    package: str
    ask: tuple[str, ...] = ("--version",)


ETCD = Source(
    "etcd",
    "go.etcd.io/etcd/server/v3",
    "v3.6.4",
    go=(1, 23, 0),
    gigabytes=0.7,
    copied=False,
    beside=("go.etcd.io/etcd/api/v3",),
)
KUBERNETES = Source(
    "kubernetes",
    "k8s.io/kubernetes",
    _KUBERNETES,
    go=(1, 24, 0),
    gigabytes=3.2,
    staging="v0." + _KUBERNETES.partition(".")[2],
    stamps=(
        f"k8s.io/component-base/version.gitVersion={_KUBERNETES}",
        "k8s.io/component-base/version.gitMajor=1",
        f"k8s.io/component-base/version.gitMinor={_KUBERNETES.split('.')[1]}",
        f"k8s.io/client-go/pkg/version.gitVersion={_KUBERNETES}",
    ),
)
KARMADA = Source(
    "karmada",
    "github.com/karmada-io/karmada",
    _KARMADA,
    go=(1, 24, 10),
    gigabytes=2.5,
    stamps=(f"github.com/karmada-io/karmada/pkg/version.gitVersion={_KARMADA}",),
    files=("charts/karmada/_crds/bases/*/*.yaml", "artifacts/deploy/webhook-configuration.yaml"),
)
KWOK = Source("kwok", "sigs.k8s.io/kwok", "v0.7.0", go=(1, 24, 0), gigabytes=1.5)

BINARIES = {
    binary.name: binary
    for binary in (
        Binary("etcd", ETCD, "go.etcd.io/etcd/server/v3"),
        Binary("kube-apiserver", KUBERNETES, "k8s.io/kubernetes/cmd/kube-apiserver"),
        Binary(
            "kube-controller-manager", KUBERNETES, "k8s.io/kubernetes/cmd/kube-controller-manager"
        ),
        Binary("kube-scheduler", KUBERNETES, "k8s.io/kubernetes/cmd/kube-scheduler"),
        Binary("kubectl", KUBERNETES, "k8s.io/kubernetes/cmd/kubectl", ("version", "--client")),
        *(
            Binary(f"karmada-{part}", KARMADA, f"{KARMADA.module}/cmd/{part}", ("version",))
            for part in ("controller-manager", "scheduler", "webhook", "aggregated-apiserver")
        ),
        Binary("kwok", KWOK, "sigs.k8s.io/kwok/cmd/kwok"),
    )
}
# Names for several at once. "kubernetes" is all that a test against one real server needs; the stack
# of planes with Karmada needs all.
SETS = {
    "all": tuple(BINARIES),
    "kubernetes": ("etcd", *(n for n, b in BINARIES.items() if b.source is KUBERNETES)),
    "karmada": tuple(n for n, b in BINARIES.items() if b.source is KARMADA),
}


class Unknown(Exception):
    """A name that nothing is built under. Says which names there are."""


def chosen(names: Iterable[str]) -> list[Binary]:
    """The binaries of these names and sets, each once, in the order of the catalog."""
    wanted: set[str] = set()
    for name in names or ("all",):
        if name not in SETS and name not in BINARIES:
            raise Unknown(f"there is no {name}; there are {', '.join([*BINARIES, *SETS])}")
        wanted.update(SETS.get(name, (name,)))
    return [binary for name, binary in BINARIES.items() if name in wanted]


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where these versions are kept: ``bin``, ``log`` and what is needed to build them."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    root = environment.get("DATUM_PEERS") or f"{cache}/datum-compute/peers"
    return Path(root).expanduser().absolute() / _key()


def missing(binaries: Iterable[Binary], folder: Path) -> list[Binary]:
    """Those that are not built yet. A build ends with a rename: what has the name is whole."""
    return [binary for binary in binaries if not _is_whole(binary, folder)]


def files(source: Source, folder: Path) -> Path:
    """Where the files of a source are kept."""
    return folder / "files" / source.name


def _is_whole(binary: Binary, folder: Path) -> bool:
    accompanied = not binary.source.files or files(binary.source, folder).is_dir()
    return accompanied and (folder / "bin" / binary.name).is_file()


def _key() -> str:
    """A name that is another one as soon as anything is built otherwise, or for another machine."""
    built = [
        (binary.package, source.module, source.version, source.staging, source.stamps)
        for binary in BINARIES.values()
        for source in (binary.source,)
    ]
    platform_key = repr((built, sys.platform, platform.machine()))
    return hashlib.sha256(platform_key.encode()).hexdigest()[:12]

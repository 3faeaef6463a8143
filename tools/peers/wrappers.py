"""The module of our own that a peer is built in: its go.mod."""

import re
from dataclasses import dataclass

from tools.peers.catalog import Source

# One-line and bracketed directives that a wrapper must not repeat.
_DIRECTIVES = re.compile(
    r"^(?:replace|godebug) \(.*?^\)\n|^(?:replace|godebug) [^(\n]*\n", re.MULTILINE | re.DOTALL
)
_MODULE = re.compile(r"^module .*$", re.MULTILINE)
_STAGING = re.compile(r"^(\s*(?:require )?)(k8s\.io/\S+) v0\.0\.0(?=\s|$)", re.MULTILINE)
_NAME = "peers"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """The files of a module."""

    go_mod: str
    go_sum: str = ""


def plain(source: Source) -> Wrapper:
    """A module that only requires the source; its dependencies follow from that."""
    required = (source.module, *source.beside)
    lines = "".join(f"\t{module} {source.version}\n" for module in required)
    version = ".".join(map(str, source.go))
    return Wrapper(f"module {_NAME}\n\ngo {version}\n\nrequire (\n{lines})\n")


def copied(source: Source, original: Wrapper) -> Wrapper:
    """A module with the very dependencies of the source.

    Kubernetes requires the modules of its own repository as v0.0.0 and replaces them by folders.
    They are published as well, so the wrapper requires and replaces them at that version: a
    requirement of a third module for v0.0.0 of one would else not be found.
    """
    text = _MODULE.sub(f"module {_NAME}", _DIRECTIVES.sub("", original.go_mod), count=1)
    own = [match[2] for match in _STAGING.finditer(text)]
    text = _STAGING.sub(rf"\1\2 {source.staging}", text)
    text += f"\nrequire {source.module} {source.version}\n"
    if own:
        lines = "".join(f"\t{module} => {module} {source.staging}\n" for module in own)
        text += f"\nreplace (\n{lines})\n"
    return Wrapper(text, original.go_sum)

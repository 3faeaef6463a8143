"""The path of a project's API below the address of a platform."""

import re
from typing import Final

_PREFIX: Final = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
_SUFFIX: Final = "/control-plane"
_PATH: Final = re.compile(f"{re.escape(_PREFIX)}([^/]+){re.escape(_SUFFIX)}/?$")


def project_of(server: str) -> str:
    """The project that an address leads to; empty when it leads to none."""
    found = _PATH.search(server)
    return found[1] if found else ""


def platform_of(server: str) -> str:
    """The address without the path of a project."""
    return _PATH.sub("", server).rstrip("/")


def with_project(server: str, project: str) -> str:
    """The address of a project on the same platform."""
    return f"{platform_of(server)}{_PREFIX}{project}{_SUFFIX}"

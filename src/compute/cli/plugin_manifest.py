"""What datumctl asks of a plugin: who it is, and which versions of the contract it knows."""

import json
from importlib.metadata import metadata
from typing import Final

from compute.cli.invocation import NAME

_API_VERSION: Final = 1
PACKAGE: Final = "datum-compute"


def manifest() -> str:
    """The manifest as JSON."""
    package = metadata(PACKAGE)
    content = {
        "name": NAME,
        "version": package["Version"],
        "description": package["Summary"],
        "api_version": _API_VERSION,
        "min_api_version": _API_VERSION,
    }
    return json.dumps(content, indent=2)

"""The response of /version: the Kubernetes version that the plane is compatible with.

Clients choose their behaviour by the minor version, so it names the Kubernetes whose API rules
the plane follows. The build metadata after it identifies this server.
"""

from typing import Final

import msgspec

MAJOR: Final = "1"
MINOR: Final = "34"
GIT_VERSION: Final = f"v{MAJOR}.{MINOR}.0+compute"


def document() -> bytes:
    """The version document, with every field that client libraries decode."""
    return msgspec.json.encode(
        {
            "major": MAJOR,
            "minor": MINOR,
            "emulationMajor": MAJOR,
            "emulationMinor": MINOR,
            "minCompatibilityMajor": MAJOR,
            "minCompatibilityMinor": "33",
            "gitVersion": GIT_VERSION,
            "gitCommit": "",
            "gitTreeState": "",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "none",
            "compiler": "none",
            "platform": "python/any",
        }
    )

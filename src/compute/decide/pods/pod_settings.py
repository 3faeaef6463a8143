"""What operators choose for all Pods of a cell."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PodSettings:
    """The settings of the provider of Pods.

    ``allow_root`` admits images whose processes run as root. Pods then follow the Pod Security
    Standard ``baseline`` instead of ``restricted``: they keep the capabilities that the container
    runtime grants by default, and everything else stays as strict.
    """

    allow_root: bool = False

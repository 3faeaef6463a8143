"""What a look at a Workload finds."""

from dataclasses import dataclass

from kubekit.api.fields import FieldError


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """A network that whoever writes the Workload must be allowed to use.

    The namespace is the network's own, or the Workload's where the reference names none: the very
    network that will be attached, and no namesake that the user happens to have access to.
    """

    namespace: str
    name: str
    path: str  # the field to blame when access is denied
    verb: str = "use"


@dataclass(frozen=True, slots=True)
class Review:
    """What is wrong, what is worth saying, and what is still to be asked of the access rules."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()
    networks: tuple[NetworkUse, ...] = ()

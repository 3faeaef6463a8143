"""The result of the validation of a Workload."""

from dataclasses import dataclass

from kubekit.api.fields import FieldError


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """A network that the writer of the Workload must be allowed to use.

    The namespace is that of the reference, or the Workload's if the reference names none: it is the
    network that will be attached, and not one of the same name in another namespace.
    """

    namespace: str
    name: str
    path: str  # the field of the error when access is denied
    verb: str = "use"


@dataclass(frozen=True, slots=True)
class Review:
    """Errors, warnings, and the networks that still have to be authorized."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()
    networks: tuple[NetworkUse, ...] = ()

"""What the processes of a Pod may do: the Pod Security Standard "restricted", unless root is allowed."""

from collections.abc import Iterable
from typing import Final

from compute.api.instance_spec import Container
from compute.decide.pods.pod_settings import PodSettings
from kubekit.api.kinds.pods import (
    Capabilities,
    PodSecurityContext,
    SeccompProfile,
    SecurityContext,
    Sysctl,
)

_RUNTIME_DEFAULT: Final = SeccompProfile(type="RuntimeDefault")
_FIRST_UNPRIVILEGED: Final = 1024
# One of the sysctls that "restricted" allows: it concerns the network of this Pod alone.
_ANY_PORT: Final = Sysctl(name="net.ipv4.ip_unprivileged_port_start", value="0")


def of_pod(containers: Iterable[Container], settings: PodSettings) -> PodSecurityContext:
    """The security context of a Pod. A process that is not root may listen on a port like 80 too."""
    ports = (port.port for container in containers for port in container.ports)
    return PodSecurityContext(
        run_as_non_root=None if settings.allow_root else True,
        seccomp_profile=_RUNTIME_DEFAULT,
        sysctls=(_ANY_PORT,) if any(port < _FIRST_UNPRIVILEGED for port in ports) else (),
    )


def of_container(settings: PodSettings) -> SecurityContext:
    """The security context of a container."""
    return SecurityContext(
        allow_privilege_escalation=False,
        capabilities=None if settings.allow_root else Capabilities(drop=("ALL",)),
        run_as_non_root=None if settings.allow_root else True,
    )

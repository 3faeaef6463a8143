"""Where a webhook is."""

from collections.abc import Callable
from dataclasses import dataclass

from kubekit.api.kinds.webhook_clients import ServiceReference

Resolve = Callable[[ServiceReference], str | None]
"""Where a Service is: the beginning of a URL, such as https://127.0.0.1:8443."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a webhook is. ``server_name`` is what its certificate must be for, if not the URL's."""

    url: str
    ca_bundle: str
    seconds: float
    server_name: str | None = None

    @property
    def shown(self) -> str:
        """The URL that is called, with the deadline as Kubernetes tells it."""
        return f"{self.url}?timeout={self.seconds:g}s"


def no_services(_service: ServiceReference) -> None:
    """A plane without Services: a webhook must have a URL."""
    return

"""The addresses of webhooks."""

from collections.abc import Callable
from dataclasses import dataclass

from kubekit.api.kinds.webhook_clients import ServiceReference

Resolve = Callable[[ServiceReference], str | None]
"""Resolves a Service to the start of a URL, such as https://127.0.0.1:8443."""


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """The address of a webhook. ``server_name`` is the name in its certificate, if not the URL's."""

    url: str
    ca_bundle: str
    seconds: float
    server_name: str | None = None

    @property
    def shown(self) -> str:
        """The URL with the timeout, as Kubernetes shows it."""
        return f"{self.url}?timeout={self.seconds:g}s"


def no_services(_service: ServiceReference) -> None:
    """A plane without Services: a webhook must have a URL."""
    return

"""How an API server reaches a webhook, for admission and for the conversion of versions."""

from kubekit.api.wire import Int32, Wire


class ServiceReference(Wire, frozen=True, kw_only=True):
    """A Service, and the path of the webhook below it."""

    name: str = ""
    """The name of the Service."""
    namespace: str = ""
    """The namespace of the Service."""
    path: str | None = None
    """The path that reviews are sent to."""
    port: Int32 | None = None
    """The port of the Service; 443 if it is left out."""


class WebhookClientConfig(Wire, frozen=True, kw_only=True):
    """The address of a webhook, a URL or a Service, and the authority that signs its certificate."""

    url: str | None = None
    """The URL that reviews are sent to, such as https://example.com/validate."""
    service: ServiceReference | None = None
    """The Service that receives reviews, if there is no URL."""
    ca_bundle: str = ""
    """The authorities of the server's certificate, PEM in base64; empty for the system's."""

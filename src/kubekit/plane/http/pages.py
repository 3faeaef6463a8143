"""The pages that describe a plane: discovery, OpenAPI, version, health, metrics, keys.

    server = Server(address, tls, tokens, environment, ServerOptions(site=Pages()))

Pages that depend only on the kinds are cached as bytes and have a hash. Planes with the same kinds
share one set of pages, and a plane whose kinds change gets another one.
"""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qs

from kubekit.api import errors
from kubekit.plane.http import health, openid_discovery
from kubekit.plane.http.audit.audit_log import Audit
from kubekit.plane.http.content.accept_header import MediaRange, ranges, takes
from kubekit.plane.http.interfaces import Attributes, PlaneBackend
from kubekit.plane.http.messages import JSON, Response, ServerRequest, refusal
from kubekit.plane.http.metrics import CONTENT_TYPE, RequestMetrics
from kubekit.plane.http.openapi import openapi_v2_protobuf, version
from kubekit.plane.http.openapi.discovery import Generation
from kubekit.plane.http.openapi.document_cache import CachedDocument, documents_of
from kubekit.plane.identity.web_tokens import SigningKey

_AGGREGATED: Final = frozenset({"/api", "/apis"})
_GENERATIONS: Final[Mapping[str, Generation]] = {"v2": "v2", "v2beta1": "v2beta1"}
_VERSION: Final = version.document()
_CHECK_EACH_TIME: Final = ("cache-control", "no-cache, private")
_KEEP: Final = ("cache-control", "public, immutable, max-age=31536000")
_BY_ACCEPT: Final = ("vary", "Accept")
_NOT_ACCEPTABLE: Final = errors.NotAcceptable(
    "only the following media types are accepted: application/json"
)
_NOT_ALLOWED: Final = errors.MethodNotAllowed("this page can only be read: use GET")


class Pages:
    """The non-resource paths. It is the `PageHandler` of a server.

    ``more_metrics`` are the metrics of the whole process. Only the root plane shows them: users of
    other planes must not see them.
    """

    def __init__(
        self,
        audit: Audit | None = None,
        signing: SigningKey | None = None,
        more_metrics: Callable[[], bytes] = bytes,
    ) -> None:
        self._metrics = RequestMetrics(audit)
        self._signing = signing
        self._more_metrics = more_metrics

    def observe(
        self, plane: PlaneBackend | None, attributes: Attributes, status: int, seconds: float
    ) -> None:
        """Count a request that was answered."""
        registry = None if plane is None else plane.registry
        self._metrics.observe(registry, attributes, status, seconds)

    def answer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        """The page at a path, or None if there is none."""
        find = _PAGES.get(request.path[1:].partition("/")[0])
        response = None if find is None else find(self, plane, request)
        if response is not None and request.method != "GET":
            return refusal(_NOT_ALLOWED)
        return response

    def documents(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        """Discovery and OpenAPI."""
        path = request.path.rstrip("/")
        documents = documents_of(plane.kinds.members)
        generation = _generation(request) if path in _AGGREGATED else None
        if generation is not None:
            kind = f"{JSON};g=apidiscovery.k8s.io;v={generation};as=APIGroupDiscoveryList"
            return _tagged(documents.aggregated(path, generation), request, kind)
        if path == "/openapi/v2" and _takes_protobuf(request):
            return _tagged(documents.protobuf(), request, openapi_v2_protobuf.CONTENT_TYPE)
        page = documents.page(path, request.prefix)
        return None if page is None else _served(page, request)

    def version(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        if request.path.rstrip("/") != "/version":
            return None
        return Response(200, _VERSION, JSON, (_CHECK_EACH_TIME,))

    def health(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        return health.answer(plane.registry.store, request.path, request.query)

    def metrics(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        if request.path != "/metrics":
            return None
        more = b"" if request.prefix else self._more_metrics()
        return Response(200, self._metrics.text(plane.registry) + more, CONTENT_TYPE)

    def issuer(self, plane: PlaneBackend, request: ServerRequest) -> Response | None:
        """The issuer of service account tokens, if there is a permanent key."""
        return None if self._signing is None else openid_discovery.answer(request, self._signing)


_PAGES: Final[Mapping[str, Callable[[Pages, PlaneBackend, ServerRequest], Response | None]]] = {
    "api": Pages.documents,
    "apis": Pages.documents,
    "openapi": Pages.documents,
    "version": Pages.version,
    "livez": Pages.health,
    "readyz": Pages.health,
    "healthz": Pages.health,
    "metrics": Pages.metrics,
    ".well-known": Pages.issuer,
    "openid": Pages.issuer,
}


def _generation(request: ServerRequest) -> Generation | None:
    """The form of aggregated discovery that the client prefers to the classic one."""
    for accepted in _json_ranges(request):
        parameters = accepted.parameters
        if "as" not in parameters:
            return None
        if (parameters["as"], parameters.get("g")) == (
            "APIGroupDiscoveryList",
            "apidiscovery.k8s.io",
        ):
            found = _GENERATIONS.get(parameters.get("v", ""))
            if found is not None:
                return found
    return None


def _served(page: CachedDocument, request: ServerRequest) -> Response:
    if all("as" in accepted.parameters for accepted in _json_ranges(request)):
        return refusal(_NOT_ACCEPTABLE)
    return _tagged(page, request, JSON)


def _tagged(page: CachedDocument, request: ServerRequest, content_type: str) -> Response:
    """The page, or 304 if the client has it already.

    A client may cache the response to a request with a hash indefinitely. So it must get exactly
    that version; with an outdated hash it is redirected.
    """
    requested_hash = parse_qs(request.query).get("hash", [""])[-1] if request.query else ""
    cache_control = _KEEP if requested_hash else _CHECK_EACH_TIME
    tag = f'"{page.hash}"'
    headers = (cache_control, ("etag", tag), _BY_ACCEPT)
    if requested_hash not in ("", page.hash):
        return Response(301, b"", content_type, (*headers[1:], ("location", f"?hash={page.hash}")))
    if tag in request.headers.get("if-none-match", ""):
        return Response(304, b"", content_type, headers)
    return Response(200, page.body, content_type, headers)


def _takes_protobuf(request: ServerRequest) -> bool:
    """Whether the client names Protobuf. A client that accepts anything gets JSON."""
    accepted = ranges(request.headers.get("accept", ""))
    return any(entry.type in openapi_v2_protobuf.ACCEPTED for entry in accepted)


def _json_ranges(request: ServerRequest) -> list[MediaRange]:
    return [r for r in ranges(request.headers.get("accept", "")) if takes(r, JSON)]

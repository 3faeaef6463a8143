"""From a request to its response: authenticate, find the plane and the route, authorize, execute.

For an unauthenticated request nothing is looked up, so that the response does not depend on its path.
"""

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final, cast

from kubekit.api.errors import ApiError, InternalError
from kubekit.api.selectors import field_selectors
from kubekit.api.selectors.label_requirement import SelectorError
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http import eager
from kubekit.plane.http.authentication import impersonation
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.http.content.query_parameters import NOTHING, Parameters
from kubekit.plane.http.exchanges import Exchange
from kubekit.plane.http.fairness import Fairness
from kubekit.plane.http.http_errors import no_such_resource, unauthorized
from kubekit.plane.http.interfaces import Attributes, PlaneBackend, ServerOptions
from kubekit.plane.http.messages import HandlerResult, Response, ServerRequest, refusal
from kubekit.plane.http.mounts import MountedPlane, Mounts
from kubekit.plane.http.routes import Route, parse_route, segments_of
from kubekit.plane.http.verbs import HANDLERS, READS, VerbCall, VerbContext, verb_of

_log: Final = logging.getLogger(__name__)
_VERBS_OF_PAGES: Final = {"GET": "get", "HEAD": "get", "POST": "post", "PUT": "put"}
_LONGEST_VERB: Final = 16
_SHORTEST_WATCH: Final = 1800.0


class Application:
    """The request handler of a server. It does not depend on sockets."""

    def __init__(
        self,
        authenticator: Authenticator,
        environment: ExecutionEnvironment,
        options: ServerOptions,
    ) -> None:
        self._authenticator = authenticator
        self._environment = environment
        self._site = options.site
        self._access = options.access
        self._limits = options.limits
        self._audit = options.audit
        self._fairness = Fairness(options.fairness)
        self._mounts = Mounts()
        self._unauthorized = refusal(unauthorized())
        self._loop: asyncio.AbstractEventLoop | None = None

    def mount(self, prefix: str, plane: PlaneBackend) -> None:
        self._mounts.add(prefix, plane, self._fairness.queue())

    def unmount(self, prefix: str) -> None:
        self._mounts.remove(prefix)

    @property
    def watches(self) -> int:
        return self._mounts.watches

    def mounted(self, prefix: str) -> PlaneBackend:
        return self._mounts.find(segments_of(prefix))[0].plane

    def close(self) -> None:
        """End every watch."""
        self._mounts.finish()

    def handle(self, request: ServerRequest) -> HandlerResult:
        """The response, or an awaitable of it. It raises nothing: an error becomes a response too."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        identity = self._authenticator.user_of(request)
        exchange = Exchange(request, identity, loop.time())
        if identity is None:
            exchange.attributes = _unknown(request)
            return self._observed(exchange, self._unauthorized, loop)
        try:
            result = self._dispatch(request, exchange, loop)
        except Exception as problem:  # noqa: BLE001 - the client gets a response in any case
            return self._observed(exchange, _refused(problem), loop)
        if isinstance(result, Response):
            return self._observed(exchange, result, loop)
        return eager.run(self._awaited(exchange, result, loop), loop)

    def _dispatch(
        self, request: ServerRequest, exchange: Exchange, loop: asyncio.AbstractEventLoop
    ) -> Response | Coroutine[Any, Any, Response]:
        segments = segments_of(request.path)
        mount, depth = self._mounts.find(segments)
        if depth or "%" in request.path:
            request.prefix = "".join(f"/{segment}" for segment in segments[:depth])
            segments = segments[depth:] or [""]
            request.path = "/" + "/".join(segments)
        self._enter(exchange, mount)
        if not _is_resource(segments):
            return self._page(request, mount.plane, exchange)
        route = parse_route(mount.plane.kinds, segments)
        parameters = Parameters(request.query) if request.query else NOTHING
        verb = verb_of(request.method, route, parameters)
        exchange.attributes = attributes = _attributes(verb, route, parameters)
        self._check(exchange, mount.plane, attributes)
        call = VerbCall(request, route, parameters, self._context(mount, loop))
        if verb in READS:
            if verb == "watch":
                mount.queue.check_watches(len(mount.watches))
            return cast("Response | Coroutine[Any, Any, Response]", HANDLERS[verb](call))
        if verb in ("patch", "update"):
            call.may_create = partial(self._check_create, mount.plane, request, attributes)
        return mount.queue.run(cast("Coroutine[Any, Any, Response]", HANDLERS[verb](call)))

    def _enter(self, exchange: Exchange, mount: MountedPlane) -> None:
        """Resolve the identity within this plane, and apply the plane's rate limit."""
        identity, request = exchange.identity, exchange.request
        assert identity is not None
        exchange.plane = mount.plane
        exchange.identity = identity = impersonation.in_plane(
            identity, request, mount.plane, self._access
        )
        request.user = identity.user
        mount.queue.check_rate()

    def _check(self, exchange: Exchange, plane: PlaneBackend, attributes: Attributes) -> None:
        self._access.check(plane, exchange.request.user, attributes)
        exchange.allowed = True

    def _check_create(
        self, plane: PlaneBackend, request: ServerRequest, attributes: Attributes
    ) -> None:
        """Authorize `create` for an apply of an object that does not exist."""
        create = Attributes(
            verb="create",
            group=attributes.group,
            version=attributes.version,
            resource=attributes.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        self._access.check(plane, request.user, create)

    def _page(self, request: ServerRequest, plane: PlaneBackend, exchange: Exchange) -> Response:
        verb = _VERBS_OF_PAGES.get(request.method, request.method.lower())
        exchange.attributes = Attributes(verb=verb, path=request.path)
        self._check(exchange, plane, exchange.attributes)
        response = self._site.answer(plane, request)
        if response is None:
            raise no_such_resource()
        return response

    async def _awaited(
        self,
        exchange: Exchange,
        pending: Coroutine[Any, Any, Response],
        loop: asyncio.AbstractEventLoop,
    ) -> Response:
        try:
            response = await pending
        except Exception as problem:  # noqa: BLE001 - the client gets a response in any case
            response = _refused(problem)
        return self._observed(exchange, response, loop)

    def _observed(
        self, exchange: Exchange, response: Response, loop: asyncio.AbstractEventLoop
    ) -> Response:
        seconds = loop.time() - exchange.started
        self._site.observe(exchange.plane, exchange.attributes, response.status, seconds)
        if self._audit is not None and exchange.is_due(response.status):
            return exchange.recorded(self._audit, self._environment, response, seconds)
        return response

    def _context(self, mount: MountedPlane, loop: asyncio.AbstractEventLoop) -> VerbContext:
        if mount.context is None:
            mount.context = VerbContext(
                registry=mount.plane.registry,
                now=self._environment.now,
                loop=loop,
                watches=mount.watches,
                watch_time=self._watch_time,
                body_limit=self._limits.body,
            )
        return mount.context

    def _watch_time(self) -> float:
        """The duration of a watch without timeoutSeconds. Randomized, so that reconnects spread out."""
        return _SHORTEST_WATCH * (1 + self._environment.chance.random())


def _unknown(request: ServerRequest) -> Attributes:
    """The attributes of an unauthenticated request: nothing is looked up, not even the plane."""
    verb = _VERBS_OF_PAGES.get(request.method, "")
    return Attributes(verb=verb or request.method[:_LONGEST_VERB].lower())


def _is_resource(segments: list[str]) -> bool:
    """Whether a path has enough segments to name a resource. Shorter paths are pages."""
    if segments[0] == "apis":
        return len(segments) > 3  # noqa: PLR2004 - apis, group, version
    return segments[0] == "api" and len(segments) > 2  # noqa: PLR2004 - api, version


def _attributes(verb: str, route: Route, parameters: Parameters) -> Attributes:
    resource = route.kind.resource
    name, namespace = route.name, route.namespace
    if route.kind.storage == "/namespaces":
        namespace = name
    if not name and verb in ("list", "watch") and parameters:
        name = _only_name(parameters.text("fieldSelector"))
    return Attributes(
        verb=verb,
        group=resource.group,
        version=resource.version,
        resource=resource.plural,
        subresource=route.subresource,
        namespace=namespace,
        name=name,
    )


def _only_name(selector: str) -> str:
    """The name in a selector that selects one object by name; empty for every other selector.

    An invalid selector is refused later; here it selects no single name.
    """
    if "metadata.name" not in selector:
        return ""
    try:
        terms = field_selectors.parse(selector).requirements
    except SelectorError:
        return ""
    names = [term.value for term in terms if term.field == "metadata.name" and term.operator == "="]
    return names[0] if names else ""


def _refused(problem: Exception) -> Response:
    if isinstance(problem, ApiError):
        return refusal(problem)
    _log.error("a request failed", exc_info=problem)
    return refusal(InternalError("the server failed to answer; its log says why"))

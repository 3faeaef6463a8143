"""From a request to its answer: who asks, which plane, which place, may he, and do it.

Nothing is looked up for somebody who is not known: without credentials every path is the same.
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
from kubekit.plane.http.interfaces import Attributes, PlaneBackend, ServerOptions
from kubekit.plane.http.messages import HandlerResult, Response, ServerRequest, refusal
from kubekit.plane.http.mounts import Mount, Mounts
from kubekit.plane.http.refusals import no_such_resource, unauthorized
from kubekit.plane.http.routes import Route, route, segments_of
from kubekit.plane.http.verbs import ACTS, READS, VerbCall, VerbContext, verb_of

_log: Final = logging.getLogger(__name__)
_VERBS_OF_PAGES: Final = {"GET": "get", "HEAD": "get", "POST": "post", "PUT": "put"}
_LONGEST_VERB: Final = 16
_SHORTEST_WATCH: Final = 1800.0


class Application:
    """The handler of a server. It knows nothing of sockets."""

    def __init__(
        self, authenticator: Authenticator, environment: ExecutionEnvironment, seams: ServerOptions
    ) -> None:
        self._authenticator = authenticator
        self._environment = environment
        self._site = seams.site
        self._access = seams.access
        self._limits = seams.limits
        self._audit = seams.audit
        self._fairness = Fairness(seams.shares)
        self._mounts = Mounts()
        self._unauthorized = refusal(unauthorized())
        self._loop: asyncio.AbstractEventLoop | None = None

    def mount(self, prefix: str, plane: PlaneBackend) -> None:
        self._mounts.add(prefix, plane, self._fairness.lane())

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
        """The answer, at once where it can be. Nothing is raised: a refusal is an answer."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        identity = self._authenticator.user_of(request)
        exchange = Exchange(request, identity, loop.time())
        if identity is None:
            exchange.attributes = _unknown(request)
            return self._told(exchange, self._unauthorized, loop)
        try:
            answer = self._answer(request, exchange, loop)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the peer gets an answer
            return self._told(exchange, _refused(problem), loop)
        if isinstance(answer, Response):
            return self._told(exchange, answer, loop)
        return eager.run(self._awaited(exchange, answer, loop), loop)

    def _answer(
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
        place = route(mount.plane.kinds, segments)
        parameters = Parameters(request.query) if request.query else NOTHING
        verb = verb_of(request.method, place, parameters)
        exchange.attributes = attributes = _attributes(verb, place, parameters)
        self._check(exchange, mount.plane, attributes)
        call = VerbCall(request, place, parameters, self._desk(mount, loop))
        if verb in READS:
            if verb == "watch":
                mount.lane.check_watches(len(mount.watches))
            return cast("Response | Coroutine[Any, Any, Response]", ACTS[verb](call))
        if verb in ("patch", "update"):
            call.may_create = partial(self._check_create, mount.plane, request, attributes)
        return mount.lane.run(cast("Coroutine[Any, Any, Response]", ACTS[verb](call)))

    def _enter(self, exchange: Exchange, mount: Mount) -> None:
        """Find out who it is in this plane, and whether it is his turn to ask."""
        identity, request = exchange.identity, exchange.request
        assert identity is not None
        exchange.plane = mount.plane
        exchange.identity = identity = impersonation.in_plane(
            identity, request, mount.plane, self._access
        )
        request.user = identity.user
        mount.lane.check_rate()

    def _check(self, exchange: Exchange, plane: PlaneBackend, attributes: Attributes) -> None:
        self._access.check(plane, exchange.request.user, attributes)
        exchange.allowed = True

    def _check_create(
        self, plane: PlaneBackend, request: ServerRequest, attributes: Attributes
    ) -> None:
        """Whoever applies what is not there must be allowed to create it."""
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
        answer: Coroutine[Any, Any, Response],
        loop: asyncio.AbstractEventLoop,
    ) -> Response:
        try:
            response = await answer
        except Exception as problem:  # noqa: BLE001 - whatever it is, the peer gets an answer
            response = _refused(problem)
        return self._told(exchange, response, loop)

    def _told(
        self, exchange: Exchange, response: Response, loop: asyncio.AbstractEventLoop
    ) -> Response:
        seconds = loop.time() - exchange.started
        self._site.observe(exchange.plane, exchange.attributes, response.status, seconds)
        if self._audit is not None and exchange.is_due(response.status):
            return exchange.recorded(self._audit, self._environment, response, seconds)
        return response

    def _desk(self, mount: Mount, loop: asyncio.AbstractEventLoop) -> VerbContext:
        if mount.desk is None:
            mount.desk = VerbContext(
                registry=mount.plane.registry,
                now=self._environment.now,
                loop=loop,
                watches=mount.watches,
                watch_time=self._watch_time,
                body_limit=self._limits.body,
            )
        return mount.desk

    def _watch_time(self) -> float:
        """How long a watch lasts that does not say. Spread, so that not all come back at once."""
        return _SHORTEST_WATCH * (1 + self._environment.chance.random())


def _unknown(request: ServerRequest) -> Attributes:
    """What somebody wants whom nobody knows: nothing is looked up for him, not even a plane."""
    verb = _VERBS_OF_PAGES.get(request.method, "")
    return Attributes(verb=verb or request.method[:_LONGEST_VERB].lower())


def _is_resource(segments: list[str]) -> bool:
    """Whether a path is deep enough to name a resource: what is above describes the plane."""
    if segments[0] == "apis":
        return len(segments) > 3  # noqa: PLR2004 - apis, group, version
    return segments[0] == "api" and len(segments) > 2  # noqa: PLR2004 - api, version


def _attributes(verb: str, place: Route, parameters: Parameters) -> Attributes:
    resource = place.kind.resource
    name, namespace = place.name, place.namespace
    if place.kind.storage == "/namespaces":
        namespace = name
    if not name and verb in ("list", "watch") and parameters:
        name = _only_name(parameters.text("fieldSelector"))
    return Attributes(
        verb=verb,
        group=resource.group,
        version=resource.version,
        resource=resource.plural,
        subresource=place.subresource,
        namespace=namespace,
        name=name,
    )


def _only_name(selector: str) -> str:
    """The name of the only object that a selector lets through; empty where it may be several.

    What is no selector is refused further on: here it names nobody.
    """
    if "metadata.name" not in selector:
        return ""
    try:
        terms = field_selectors.parse(selector).requirements
    except SelectorError:
        return ""
    said = [term.value for term in terms if term.field == "metadata.name" and term.operator == "="]
    return said[0] if said else ""


def _refused(problem: Exception) -> Response:
    if isinstance(problem, ApiError):
        return refusal(problem)
    _log.error("a request failed", exc_info=problem)
    return refusal(InternalError("the server failed to answer; its log says why"))

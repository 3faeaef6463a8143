"""From a request to its answer: who asks, which plane, which place, may he, and do it.

Nothing is looked up for somebody who is not known: without credentials every path is the same.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, cast

from compute.api.errors import ApiError, InternalError
from compute.plane.environment import Environment
from compute.plane.http import eager
from compute.plane.http.authentication import Tokens
from compute.plane.http.messages import Answer, Request, Response, refusal
from compute.plane.http.mounts import Mount, Mounts
from compute.plane.http.parameters import NOTHING, Parameters
from compute.plane.http.refusals import impersonation_refused, no_such_resource, unauthorized
from compute.plane.http.routes import Route, route, segments_of
from compute.plane.http.seams import Attributes, Seams, Served
from compute.plane.http.verbs import ACTS, Call, Desk, verb_of

_log: Final = logging.getLogger(__name__)
_VERBS_OF_PAGES: Final = {"GET": "get", "HEAD": "get", "POST": "post", "PUT": "put"}
_SHORTEST_WATCH: Final = 1800.0


class Application:
    """The handler of a server. It knows nothing of sockets."""

    def __init__(self, tokens: Tokens, environment: Environment, seams: Seams) -> None:
        self._tokens = tokens
        self._environment = environment
        self._site = seams.site
        self._access = seams.access
        self._limits = seams.limits
        self._mounts = Mounts()
        self._unauthorized = refusal(unauthorized())
        self._loop: asyncio.AbstractEventLoop | None = None

    def mount(self, prefix: str, plane: Served) -> None:
        self._mounts.add(prefix, plane)

    def unmount(self, prefix: str) -> None:
        self._mounts.remove(prefix)

    @property
    def watches(self) -> int:
        return self._mounts.watches

    def mounted(self, prefix: str) -> Served:
        return self._mounts.find(segments_of(prefix))[0].plane

    def close(self) -> None:
        """End every watch."""
        self._mounts.finish()

    def handle(self, request: Request) -> Answer:
        """The answer, at once where it can be. Nothing is raised: a refusal is an answer."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        started = loop.time()
        user = self._tokens.user_of(request.headers.get("authorization", ""))
        if user is None:
            self._site.observe(_UNKNOWN, 401, 0.0)
            return self._unauthorized
        request.user = user
        exchange = _Exchange(started)
        try:
            answer = self._answer(request, exchange, loop)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the peer gets an answer
            return self._told(exchange, _refused(problem), loop)
        if isinstance(answer, Response):
            return self._told(exchange, answer, loop)
        return eager.run(self._awaited(exchange, answer, loop), loop)

    def _answer(
        self, request: Request, exchange: "_Exchange", loop: asyncio.AbstractEventLoop
    ) -> Response | Coroutine[Any, Any, Response]:
        if _IMPERSONATION in request.headers:
            raise impersonation_refused(request.user.name)
        segments = segments_of(request.path)
        mount, depth = self._mounts.find(segments)
        if depth or "%" in request.path:
            segments = segments[depth:] or [""]
            request.path = "/" + "/".join(segments)
        if not _is_resource(segments):
            return self._page(request, mount.plane, exchange)
        place = route(mount.plane.kinds, segments)
        parameters = Parameters(request.query) if request.query else NOTHING
        verb = verb_of(request.method, place, parameters)
        exchange.attributes = attributes = _attributes(verb, place)
        self._access.check(mount.plane, request.user, attributes)
        call = Call(request, place, parameters, self._desk(mount, loop))
        return cast("Response | Coroutine[Any, Any, Response]", ACTS[verb](call))

    def _page(self, request: Request, plane: Served, exchange: "_Exchange") -> Response:
        verb = _VERBS_OF_PAGES.get(request.method, request.method.lower())
        exchange.attributes = Attributes(verb=verb, path=request.path)
        self._access.check(plane, request.user, exchange.attributes)
        response = self._site.answer(plane, request)
        if response is None:
            raise no_such_resource()
        return response

    async def _awaited(
        self,
        exchange: "_Exchange",
        answer: Coroutine[Any, Any, Response],
        loop: asyncio.AbstractEventLoop,
    ) -> Response:
        try:
            response = await answer
        except Exception as problem:  # noqa: BLE001 - whatever it is, the peer gets an answer
            response = _refused(problem)
        return self._told(exchange, response, loop)

    def _told(
        self, exchange: "_Exchange", response: Response, loop: asyncio.AbstractEventLoop
    ) -> Response:
        seconds = loop.time() - exchange.started
        self._site.observe(exchange.attributes, response.status, seconds)
        return response

    def _desk(self, mount: Mount, loop: asyncio.AbstractEventLoop) -> Desk:
        if mount.desk is None:
            mount.desk = Desk(
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


class _Exchange:
    """What is known of a request when its answer is counted."""

    __slots__ = ("attributes", "started")

    def __init__(self, started: float) -> None:
        self.started = started
        self.attributes = _UNKNOWN


_UNKNOWN: Final = Attributes(verb="")
_IMPERSONATION: Final = "impersonate-user"


def _is_resource(segments: list[str]) -> bool:
    """Whether a path is deep enough to name a resource: what is above describes the plane."""
    if segments[0] == "apis":
        return len(segments) > 3  # noqa: PLR2004 - apis, group, version
    return segments[0] == "api" and len(segments) > 2  # noqa: PLR2004 - api, version


def _attributes(verb: str, place: Route) -> Attributes:
    resource = place.kind.resource
    return Attributes(
        verb=verb,
        group=resource.group,
        version=resource.version,
        resource=resource.plural,
        subresource=place.subresource,
        namespace=place.namespace,
        name=place.name,
    )


def _refused(problem: Exception) -> Response:
    if isinstance(problem, ApiError):
        return refusal(problem)
    _log.error("a request failed", exc_info=problem)
    return refusal(InternalError("the server failed to answer; its log says why"))

"""The HTTP methods of each route, mapped to the verbs of the registry."""

from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubekit.api.errors import BadRequest
from kubekit.client.options import PatchType
from kubekit.plane.http.content import request_bodies, responses
from kubekit.plane.http.content.query_parameters import (
    Parameters,
    include_object,
    list_options,
    watch_options,
    write_options,
)
from kubekit.plane.http.content.response_formats import PLAIN, ResponseFormat, form_for
from kubekit.plane.http.content.watch_streams import Watches, WatchStream
from kubekit.plane.http.http_errors import no_such_method
from kubekit.plane.http.interfaces import Verb
from kubekit.plane.http.messages import Body, Response, ServerRequest
from kubekit.plane.http.routes import FINALIZE, Route
from kubekit.plane.registry.encoding import encode
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.patch import patches
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.verbs.apply_handler import MayCreate, creation_allowed
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.registry.virtual_kinds import VirtualRequest

_COLLECTION: Final[Mapping[str, Verb]] = {
    "GET": "list",
    "POST": "create",
    "DELETE": "deletecollection",
}
_EVERYWHERE: Final[Mapping[str, Verb]] = {"GET": "list"}
_OBJECT: Final[Mapping[str, Verb]] = {
    "GET": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_SUBRESOURCE: Final[Mapping[str, Verb]] = {"GET": "get", "PUT": "update", "PATCH": "patch"}
_UNNAMED: Final = "unknown"
_REPLACED: Final[Mapping[str, Verb]] = {"PUT": "update"}
_VIRTUAL: Final[Mapping[str, Verb]] = {"POST": "create"}


@dataclass(frozen=True, slots=True)
class VerbContext:
    """The context of a verb besides the request: the plane's registry, a clock, and the watches."""

    registry: Registry
    now: Callable[[], datetime]
    loop: AbstractEventLoop
    watches: Watches
    watch_time: Callable[[], float]
    body_limit: int


@dataclass(slots=True)
class VerbCall:
    """One parsed request."""

    request: ServerRequest
    route: Route
    parameters: Parameters
    context: VerbContext
    may_create: MayCreate | None = None

    @property
    def agent(self) -> str:
        """The User-Agent of the client."""
        return self.request.headers.get("user-agent", "") or _UNNAMED

    def form(self) -> ResponseFormat:
        return form_for(self.request.headers.get("accept", ""))


def verb_of(method: str, route: Route, parameters: Parameters) -> Verb:
    """The verb of the request, as access rules name it."""
    verb = _allowed(route).get(method)
    if verb is None or (verb == "deletecollection" and route.kind.storage == "/namespaces"):
        raise no_such_method()
    if route.watch or (verb == "list" and parameters and parameters.flag("watch")):
        if verb not in ("get", "list"):
            raise no_such_method()
        return "watch"
    return verb


def _allowed(route: Route) -> Mapping[str, Verb]:
    if route.virtual_kind is not None:
        return _VIRTUAL
    if route.subresource:
        return _REPLACED if route.subresource == FINALIZE else _SUBRESOURCE
    if route.name:
        return _OBJECT
    return _EVERYWHERE if route.everywhere else _COLLECTION


def get(call: VerbCall) -> Response:
    route, parameters = call.route, call.parameters
    form, registry = call.form(), call.context.registry
    if route.subresource == "scale":
        return _shown(call, registry.get_scale(route.kind, route.namespace, route.name).data)
    version = parameters.text("resourceVersion") if parameters else ""
    record = registry.get(route.kind, route.namespace, route.name, version)
    if form is PLAIN:
        return _shown(call, record.data)
    include = include_object(parameters)
    return _shown(call, responses.one(route.kind, record, form, include, call.context.now()))


async def list_(call: VerbCall) -> Response:
    route, form = call.route, call.form()
    include = include_object(call.parameters)
    options = list_options(call.parameters)
    found = await call.context.registry.list(route.kind, route.namespace, options)
    return _shown(call, responses.page(route.kind, found, form, include, call.context.now()))


async def watch(call: VerbCall) -> Response:
    route, context, form = call.route, call.context, call.form()
    include = include_object(call.parameters)
    options = watch_options(call.parameters)
    opened = await context.registry.watch(route.kind, route.namespace, options, route.name)
    write = responses.line_writer(route.kind, form, include, context.now)
    stream = WatchStream(opened, write, context.watches.discard)
    context.watches.add(stream)
    stream.limit(context.loop, options.timeout_seconds or context.watch_time())
    return _shown(call, stream)


async def create(call: VerbCall) -> Response:
    route, context = call.route, call.context
    if route.virtual_kind is not None:
        return await _answer_virtual(call, route.virtual_kind)
    form, options = call.form(), write_options(call.parameters, "CreateOptions", call.agent)
    call.request.dry_run = options.dry_run
    document = request_bodies.document(call.request, route.kind, context.body_limit)
    written = await context.registry.create(
        route.kind, route.namespace, document, options, user=call.request.user
    )
    call.request.subject = written.record.key.rpartition("/")[2]
    return _written(call, form, written, 201)


async def update(call: VerbCall) -> Response:
    route, context = call.route, call.context
    form, options = call.form(), write_options(call.parameters, "UpdateOptions", call.agent)
    call.request.dry_run = options.dry_run
    document = request_bodies.document(call.request, route.kind, context.body_limit)
    written = await context.registry.update(
        route.kind,
        route.namespace,
        route.name,
        document,
        options,
        route.subresource,
        user=call.request.user,
        may_create=call.may_create or creation_allowed,
    )
    return _written(call, form, written, 200)


async def patch(call: VerbCall) -> Response:
    route, context = call.route, call.context
    form = call.form()
    kind = request_bodies.patch_type(call.request)
    if kind is not PatchType.APPLY:
        patches.check_type(route.kind, kind)
    try:
        change = request_bodies.patch(call.request, kind, context.body_limit)
    except BadRequest:
        # A patch needs an existing object, so 404 comes before 400. An apply does not need one.
        if kind is not PatchType.APPLY:
            context.registry.get(route.kind, route.namespace, route.name)
        raise
    # An apply must name its field manager: many appliers may share a user agent.
    agent = "" if kind is PatchType.APPLY else call.agent
    options = write_options(call.parameters, "PatchOptions", agent)
    call.request.dry_run = options.dry_run
    written = await context.registry.patch(
        route.kind,
        route.namespace,
        route.name,
        kind,
        change,
        options,
        route.subresource,
        user=call.request.user,
        may_create=call.may_create or creation_allowed,
    )
    return _written(call, form, written, 200)


async def delete(call: VerbCall) -> Response:
    route, context = call.route, call.context
    options = request_bodies.delete_options(call.request, call.parameters, context.body_limit)
    call.request.dry_run = options.dry_run
    deleted = await context.registry.delete(
        route.kind, route.namespace, route.name, options, user=call.request.user
    )
    if deleted.gone:
        return responses.removed(route.kind, deleted.record, route.name)
    return Response(200, deleted.record.data)


async def delete_collection(call: VerbCall) -> Response:
    route, context, form = call.route, call.context, call.form()
    which = list_options(call.parameters)
    options = request_bodies.delete_options(call.request, call.parameters, context.body_limit)
    call.request.dry_run = options.dry_run
    found = await context.registry.delete_collection(
        route.kind, route.namespace, which, options, user=call.request.user
    )
    return Response(200, responses.page(route.kind, found, form, "Metadata", context.now()))


READS: Final = frozenset({"get", "list", "watch"})

VerbHandler = Callable[[VerbCall], Response | Awaitable[Response]]
HANDLERS: Final[Mapping[Verb, VerbHandler]] = {
    "get": get,
    "list": list_,
    "watch": watch,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}


async def _answer_virtual(call: VerbCall, kind: Kind) -> Response:
    """The response to the creation of a virtual object: the object, completed by its handler."""
    route, context = call.route, call.context
    call.form()  # refuses the request if the client does not accept the only format
    options = write_options(call.parameters, "CreateOptions")
    call.request.dry_run = options.dry_run
    document = request_bodies.document(call.request, kind, context.body_limit)
    request = VirtualRequest(
        kind=route.kind,
        namespace=route.namespace,
        name=route.name,
        subresource=route.subresource,
        document=document,
        user=call.request.user,
        dry_run=options.dry_run,
        field_validation=options.field_validation,
    )
    body = encode(await context.registry.handle_virtual(request))
    return Response(201, body, headers=responses.warning_headers(request.warnings))


def _shown(call: VerbCall, body: Body) -> Response:
    """The response to a read. Each use of a deprecated version adds a warning."""
    warning = call.route.kind.warning
    return Response(200, body, headers=responses.warning_headers((warning,)) if warning else ())


def _written(call: VerbCall, form: ResponseFormat, written: WriteResult, status: int) -> Response:
    kind, body = call.route.kind, written.record.data
    if form is not PLAIN and call.route.subresource != "scale":
        include = include_object(call.parameters)
        body = responses.one(kind, written.record, form, include, call.context.now())
    response = Response(201 if written.created else status, body)
    warnings = (*written.warnings, kind.warning) if kind.warning else written.warnings
    if warnings:
        response.headers = responses.warning_headers(warnings)
    return response

"""One trace for everything that a request of a user causes, in every plane.

A trace crosses a plane in one annotation, in the form of W3C Trace Context. `Tracing` and the
functions here take its key. The object that a user writes has the annotation, every object made from
that object has the same value, and each pass is one span below it. A pass never writes its own span
into an object: the object would change at each pass.

Only the API of OpenTelemetry is used. Without an SDK in the process nothing is recorded, nothing is
written, and it costs next to nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kubekit.api.meta import Object
from kubekit.runtime.requests import Request

if TYPE_CHECKING:  # its import searches the installed packages, which is slow
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

TRACEPARENT: Final = "compute.datumapis.com/traceparent"
"""The annotation, unless another is chosen."""

_FIELD: Final = "traceparent"
_LONGEST: Final = 128  # characters; version 00 has 55, and later ones may add to it
_LIBRARY: Final = "kubekit.runtime"


def trace_annotation(obj: Object, annotation: str = TRACEPARENT) -> dict[str, str]:
    """The trace annotation of an object, for objects that are made from it.

    Empty when it has none. Every user can write an annotation, so an invalid value is not passed on.
    """
    text = obj.metadata.annotations.get(annotation, "")
    return {annotation: text} if _is_trace(text) else {}


def new_trace_annotation(annotation: str = TRACEPARENT) -> dict[str, str]:
    """The trace annotation of a new object, made from the current span.

    For clients that create objects for users. Empty when no span is recorded.
    """
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - see above

    carrier: dict[str, str] = {}
    tracecontext.TraceContextTextMapPropagator().inject(carrier)
    return {annotation: carrier[_FIELD]} if _FIELD in carrier else {}


class Tracing:
    """The spans of one process. By default they are made by the provider of the process."""

    def __init__(
        self, provider: "TracerProvider | None" = None, annotation: str = TRACEPARENT
    ) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - see above

        self._annotation = annotation
        self._tracer: Tracer = trace.get_tracer(_LIBRARY, tracer_provider=provider)

    @contextmanager
    def span_of(
        self, controller: str, request: Request, obj: Object | None = None
    ) -> Iterator["Span"]:
        """The span of one pass, below the trace of the object.

        An exception ends the span as an error and is raised.
        """
        with self._tracer.start_as_current_span(
            f"{controller} pass",
            context=None if obj is None else _trace_of(obj, self._annotation),
            attributes={
                "compute.controller": controller,
                "compute.cluster": request.cluster,
                "k8s.namespace.name": request.namespace,
                "compute.object.name": request.name,
            },
        ) as span:
            yield span


def link_trace(span: "Span", obj: Object, annotation: str = TRACEPARENT) -> None:
    """Link the span of a pass to the trace of another object that the pass handles."""
    from opentelemetry import trace  # noqa: PLC0415 - see above

    context = _trace_of(obj, annotation)
    if context is not None:
        span.add_link(trace.get_current_span(context).get_span_context())


def _is_trace(text: str) -> bool:
    return len(text) <= _LONGEST and _context(text) is not None


def _trace_of(obj: Object, annotation: str) -> "Context | None":
    return _context(trace_annotation(obj, annotation).get(annotation, ""))


def _context(text: str) -> "Context | None":
    """The trace context in this text, if it is valid."""
    from opentelemetry import trace  # noqa: PLC0415 - see above
    from opentelemetry.context import Context  # noqa: PLC0415 - see above
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - see above

    if not text:
        return None
    carrier = {_FIELD: text}
    context = tracecontext.TraceContextTextMapPropagator().extract(carrier, Context())
    return context if trace.get_current_span(context).get_span_context().is_valid else None

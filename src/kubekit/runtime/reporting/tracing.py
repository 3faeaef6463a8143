"""What one request of a user sets off, in every plane, as one trace.

A trace crosses a plane in one annotation, in the form of W3C Trace Context. `Tracing` and the
functions here take its key. The object that a user writes carries it, every object made from that
object carries the same value, and each pass is one span below it. A pass never writes its own span
into an object: the object would change at each pass.

Only the API of OpenTelemetry is used. Without an SDK in the process nothing is recorded, nothing is
written, and it costs next to nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kubekit.api.meta import Object
from kubekit.runtime.requests import Request

if TYPE_CHECKING:  # it looks for installed packages when it is loaded, which takes its time
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

TRACEPARENT: Final = "compute.datumapis.com/traceparent"
"""The annotation, unless another is chosen."""

_FIELD: Final = "traceparent"
_LONGEST: Final = 128  # characters; version 00 has 55, and later ones may add to it
_LIBRARY: Final = "kubekit.runtime"


def trace_annotation(obj: Object, annotation: str = TRACEPARENT) -> dict[str, str]:
    """The annotation that says which trace an object is part of, for what is made of the object.

    Empty when it is part of none. What is no trace, since anybody can write an annotation, is not
    passed on.
    """
    text = obj.metadata.annotations.get(annotation, "")
    return {annotation: text} if _is_trace(text) else {}


def new_trace_annotation(annotation: str = TRACEPARENT) -> dict[str, str]:
    """The annotation for an object that is made of nothing, in the span that is current.

    For those who create objects for users. Empty when nothing is recorded.
    """
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - see above

    carrier: dict[str, str] = {}
    tracecontext.TraceContextTextMapPropagator().inject(carrier)
    return {annotation: carrier[_FIELD]} if _FIELD in carrier else {}


class Tracing:
    """The spans of one process. Without a provider, those of the process' own are made."""

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
        """The span of one pass, below the trace that the object carries.

        An exception ends the span as an error and goes on.
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
    """Note in the span of a pass that another object, which it also worked on, has its own trace."""
    from opentelemetry import trace  # noqa: PLC0415 - see above

    context = _trace_of(obj, annotation)
    if context is not None:
        span.add_link(trace.get_current_span(context).get_span_context())


def _is_trace(text: str) -> bool:
    return len(text) <= _LONGEST and _context(text) is not None


def _trace_of(obj: Object, annotation: str) -> "Context | None":
    return _context(trace_annotation(obj, annotation).get(annotation, ""))


def _context(text: str) -> "Context | None":
    """The place in a trace that this text names, if it names one."""
    from opentelemetry import trace  # noqa: PLC0415 - see above
    from opentelemetry.context import Context  # noqa: PLC0415 - see above
    from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415 - see above

    if not text:
        return None
    carrier = {_FIELD: text}
    context = tracecontext.TraceContextTextMapPropagator().extract(carrier, Context())
    return context if trace.get_current_span(context).get_span_context().is_valid else None

"""Traces through planes: one annotation, copied and never renewed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    TraceFlags,
    Tracer,
    TracerProvider,
)

from compute.api import annotations
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.reporting.tracing import (
    Tracing,
    link_trace,
    new_trace_annotation,
    trace_annotation,
)
from kubekit.runtime.requests import Request, cluster_name

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
REQUEST = Request(cluster_name("p1"), "default", "one")


class Kept(NonRecordingSpan):
    """A span that is kept, for a test to look at."""

    def __init__(self, name: str, parent: SpanContext, number: int, attributes: Any) -> None:
        place = parent.trace_id or 0xABC
        super().__init__(SpanContext(place, number, is_remote=False, trace_flags=TraceFlags(1)))
        self.name = name
        self.parent = parent
        self.attributes = dict(attributes or {})
        self.links: list[SpanContext] = []
        self.problems: list[str] = []

    def is_recording(self) -> bool:
        return True

    def add_link(self, context: SpanContext, attributes: Any = None) -> None:
        self.links.append(context)

    def record_exception(self, exception: BaseException, *_: Any, **__: Any) -> None:
        self.problems.append(str(exception))


class Keeper(TracerProvider, Tracer):
    """The smallest SDK that can be: it keeps every span."""

    def __init__(self) -> None:
        self.spans: list[Kept] = []

    def get_tracer(self, *_: Any, **__: Any) -> Tracer:
        return self

    def start_span(self, name: str, context: Context | None = None, *_: Any, **more: Any) -> Span:
        parent = trace.get_current_span(context).get_span_context()
        span = Kept(name, parent, len(self.spans) + 1, more.get("attributes"))
        self.spans.append(span)
        return span

    @contextmanager
    def start_as_current_span(  # type: ignore[override] # the same, with fewer words
        self, name: str, context: Context | None = None, **more: Any
    ) -> Iterator[Span]:
        span = self.start_span(name, context, **more)
        with trace.use_span(span, record_exception=True):
            yield span


def config(traceparent: str | None = None) -> ConfigMap:
    carrying = {} if traceparent is None else {annotations.TRACEPARENT: traceparent}
    return ConfigMap(metadata=ObjectMeta(name="one", annotations={"other": "x"} | carrying))


def test_what_is_made_of_an_object_carries_its_trace_unchanged():
    """A span of the pass would differ each time, and the child would never come to rest."""
    keeper = Keeper()
    for _ in range(2):
        with Tracing(keeper).span_of("workload", REQUEST, config(TRACE)):
            assert trace_annotation(config(TRACE)) == {annotations.TRACEPARENT: TRACE}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "garbage",
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
        "ff" + TRACE[2:],
        TRACE + "-more",
        "01" + TRACE[2:] + "-" + "x" * 100_000,
    ],
    ids=["none", "empty", "garbage", "no trace", "no span", "version ff", "too much", "endless"],
)
def test_what_is_no_trace_is_not_passed_on(text):
    """Anybody can write an annotation."""
    assert trace_annotation(config(text)) == {}


def test_a_pass_is_a_span_below_the_trace_of_its_object():
    """So everything that one request sets off is in one picture."""
    keeper = Keeper()
    with Tracing(keeper).span_of("workload", REQUEST, config(TRACE)) as span:
        assert trace.get_current_span() is span
    (kept,) = keeper.spans
    assert (kept.name, f"{kept.parent.span_id:016x}") == ("workload pass", "b7ad6b7169203331")
    assert f"{kept.get_span_context().trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert kept.attributes == {
        "compute.controller": "workload",
        "compute.cluster": "p1",
        "k8s.namespace.name": "default",
        "compute.object.name": "one",
    }


@pytest.mark.parametrize("obj", [None, config()], ids=["no object", "no trace"])
def test_a_pass_of_what_has_no_trace_begins_one(obj):
    """A pass is always a span."""
    keeper = Keeper()
    with Tracing(keeper).span_of("workload", REQUEST, obj):
        pass
    assert not keeper.spans[0].parent.is_valid


def test_a_pass_that_fails_tells_it_to_its_span():
    """The exception is raised to the caller, which counts it."""
    keeper = Keeper()
    with (
        pytest.raises(RuntimeError, match="broken"),
        Tracing(keeper).span_of("workload", REQUEST, config()),
    ):
        raise RuntimeError("broken")
    assert keeper.spans[0].problems == ["broken"]


def test_an_object_that_is_made_of_nothing_begins_with_the_current_span():
    """It is what a command or a webhook puts on the object of a user."""
    keeper = Keeper()
    with Tracing(keeper).span_of("cli", REQUEST, config(TRACE)):
        assert new_trace_annotation() == {
            annotations.TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01"
        }
    assert new_trace_annotation() == {}


def test_another_object_of_the_pass_is_linked():
    """A pass may serve two traces, and has one parent."""
    keeper = Keeper()
    with Tracing(keeper).span_of("workload", REQUEST) as span:
        link_trace(span, config(TRACE))
        link_trace(span, config())
    assert [f"{link.span_id:016x}" for link in keeper.spans[0].links] == ["b7ad6b7169203331"]


def test_without_an_sdk_nothing_is_recorded_or_written():
    """Without a provider, tracing costs nothing."""
    with Tracing().span_of("workload", REQUEST, config()) as span:
        assert not span.is_recording()
        assert new_trace_annotation() == {}

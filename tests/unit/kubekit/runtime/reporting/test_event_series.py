"""One Event for what happens to an object: everything in it fits."""

from datetime import UTC, datetime
from random import Random

from hypothesis import given, strategies as st

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.reporting import event_series
from kubekit.runtime.reporting.event_series import EventMessage, Reporter

ANY = st.text(st.characters(), max_size=700)
ONE = ConfigMap(metadata=ObjectMeta(name="one", namespace="default", uid="u"))
ENVIRONMENT = ExecutionEnvironment(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), chance=Random(1))


@given(note=ANY, reason=ANY, action=ANY, instance=ANY.filter(bool))
def test_whatever_is_said_fits_into_an_event(note, reason, action, instance):
    """Texts are cut by bytes, and what a server insists on is never empty."""
    said = EventMessage("Normal", reason, note, action)
    event = event_series.first(ONE, said, Reporter("workload", instance), ENVIRONMENT)
    assert len(event.message.encode()) <= 1024
    words = (event.reason, event.action, event.reporting_instance)
    assert all(1 <= len(word.encode()) <= 128 for word in words)


@given(text=st.text(max_size=400), limit=st.integers(0, 500))
def test_a_text_is_cut_at_a_character(text, limit):
    """What is left is the longest beginning that fits."""
    left = event_series.cut(text, limit)
    assert text.startswith(left)
    assert len(left.encode()) <= limit
    assert left == text or len(text[: len(left) + 1].encode()) > limit

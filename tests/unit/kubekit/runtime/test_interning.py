"""Words in common: the same said, at the cost of one."""

from typing import get_args, get_type_hints

import pytest

from compute.api.compute import Instance
from compute.api.reasons import Reason
from kubekit.api import scheme
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.interning import interned, with_interned_strings
from tests.support.compute.status_builders import running


def again(instance: Instance) -> Instance:
    """As it is read from a plane: equal, in words of its own."""
    return scheme.decode_as(Instance, scheme.encode(instance))


def test_equal_words_are_one():
    """Equal strings become one object; a member of an enum stays what it is."""
    one, two = ("".join(["a", " ", "word"]) for _ in range(2))
    assert one is not two
    assert interned(one) is interned(two)
    assert interned(Reason.QUOTA_EXCEEDED) is Reason.QUOTA_EXCEEDED


def test_a_thrifty_object_says_the_same():
    """In words that the next one has as well."""
    one, two = (with_interned_strings(again(running(3))) for _ in range(2))
    assert one == two == running(3)
    said = zip(one.status.conditions, two.status.conditions, strict=True)
    assert all(a.message is b.message and a.reason is b.reason for a, b in said)
    pairs = zip(one.metadata.labels.values(), two.metadata.labels.values(), strict=True)
    assert one.metadata.labels
    assert all(a is b for a, b in pairs)


def test_an_object_without_status_is_thrifty_too():
    """Most kinds have labels; not all have conditions."""
    plain = ConfigMap(metadata=ObjectMeta(name="a", labels={"app": "web"}))
    assert with_interned_strings(plain) == plain


@pytest.mark.parametrize("kind", scheme.kinds(), ids=lambda kind: kind.__name__)
def test_the_conditions_of_every_kind_have_such_words(kind):
    """Whatever is kept can be made thrifty."""
    status = get_type_hints(kind).get("status")
    conditions = get_type_hints(status).get("conditions") if isinstance(status, type) else None
    if conditions is not None:
        (condition, _) = get_args(conditions)
        assert {"type", "reason", "message"} <= set(condition.__struct_fields__)

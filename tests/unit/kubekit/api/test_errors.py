"""Refusals cross the wire and come back as what they were."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api.compute import Workload
from kubekit.api import errors, fields
from kubekit.api.errors import ApiError
from kubekit.api.resource import Resource
from kubekit.api.status import Status, StatusCause, StatusDetails

KINDS = sorted(
    # Other modules may have kinds of their own, which no wire has a name for.
    (kind for kind in ApiError.__subclasses__() if kind.__module__ == errors.__name__),
    key=lambda kind: kind.__name__,
)
PODS = Resource(group="", version="v1", kind="Pod", plural="pods")


@given(st.sampled_from(KINDS), st.text(), st.integers(0, 60))
def test_a_refusal_survives_the_wire(kind, message, seconds):
    """Server and client raise the same class with the same message and details."""
    error = kind(message or "x", StatusDetails(name="web", retry_after_seconds=seconds))
    wire = msgspec.json.encode(error.to_status())
    back = errors.from_status(msgspec.json.decode(wire, type=Status))

    assert type(back) is kind
    assert (back.message, back.details) == (error.message, error.details)


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (410, "Gone", errors.Expired),
        (500, "ServerTimeout", errors.Unavailable),
        (408, "", errors.Timeout),
        (409, "", errors.Conflict),
        (502, "", errors.Unavailable),
        (404, "Unheard", errors.NotFound),
        (418, "", errors.InternalError),
    ],
)
def test_statuses_of_other_servers(code, reason, kind):
    """A reason that we do not use is mapped by its meaning, else by its code, else to an internal error."""
    error = errors.from_status(Status(code=code, reason=reason))

    assert type(error) is kind
    assert str(error) == f"the server answered {code}"


def test_refusals_name_the_object():
    """A refusal says which object of which kind was meant."""
    gone = errors.not_found(Workload.RESOURCE, "web")
    there = errors.already_exists(PODS, "web-0")
    moved = errors.conflict(Workload.RESOURCE, "web", "it was changed at revision 7")

    assert str(gone) == 'workloads.compute.datumapis.com "web" not found'
    assert str(there) == 'pods "web-0" already exists'
    assert str(moved) == (
        'Operation cannot be fulfilled on workloads.compute.datumapis.com "web": '
        "it was changed at revision 7"
    )
    assert gone.details == StatusDetails(
        name="web", group="compute.datumapis.com", kind="workloads"
    )


def test_an_invalid_object_names_every_field():
    """Each field that is wrong is a cause of its own, and all of them are in the message."""
    wrong = [fields.required("spec.placements"), fields.invalid("metadata.name", "A", "too loud")]
    error = errors.invalid(Workload.RESOURCE, "A", wrong)

    assert error.message == (
        'Workload.compute.datumapis.com "A" is invalid: '
        '[spec.placements: Required value, metadata.name: Invalid value: "A": too loud]'
    )
    assert error.details is not None
    assert [(c.field, c.reason, c.message) for c in error.details.causes] == [
        ("spec.placements", "FieldValueRequired", "Required value"),
        ("metadata.name", "FieldValueInvalid", 'Invalid value: "A": too loud'),
    ]
    single = errors.invalid(Workload.RESOURCE, "A", wrong[:1])
    assert single.message.endswith("is invalid: spec.placements: Required value")
    assert str(errors.invalid(PODS, "a", wrong[:1])).startswith('Pod "a" is invalid: ')


def test_the_causes_of_a_refusal_can_be_asked_for():
    """A refusal without details has none."""
    causes = (StatusCause(reason=errors.NAMESPACE_TERMINATING),)
    refusal = errors.Forbidden("no", StatusDetails(causes=causes))
    assert refusal.has_cause("NamespaceTerminating")
    assert not refusal.has_cause("Other")
    assert not errors.Forbidden("no").has_cause("NamespaceTerminating")

"""Refusals of a server in the words of the command."""

from compute.cli.exits import Exit, listed_errors
from compute.cli.shell.errors import failure_of, text_of
from kubekit.api.errors import Invalid, not_found
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.status import StatusCause, StatusDetails


def test_a_missing_namespace_is_named_with_what_creates_it():
    """A mistyped -n is the usual cause, so the next command says which namespace was chosen."""
    failure = failure_of(not_found(Namespace.RESOURCE, "back"), "shop")

    assert str(failure) == (
        "there is no namespace back in project shop; to create it, deploy a manifest of kind "
        "Namespace"
    )
    assert failure.next_step == "compute config view"
    assert failure.code is Exit.NOT_FOUND


def test_another_object_that_is_missing_keeps_the_words_of_the_server():
    """A namespace called like it is no reason to say more."""
    failure = failure_of(not_found(ConfigMap.RESOURCE, "back"), "shop")

    assert str(failure) == 'configmaps "back" not found'
    assert failure.next_step == ""


def test_several_causes_are_lines():
    """A program gets them in one sentence."""
    details = StatusDetails(
        causes=(
            StatusCause(reason="FieldValueInvalid", message="too\nlong", field="metadata.name"),
            StatusCause(reason="FieldValueRequired", message="Required value", field="spec"),
        )
    )
    failure = failure_of(Invalid("it is invalid", details=details))

    assert text_of(failure) == (
        "Error: 2 errors:\n  metadata.name: too\\nlong\n  spec: Required value"
    )
    assert str(failure) == "metadata.name: too\nlong; spec: Required value"


def test_a_long_list_of_errors_is_cut():
    """Its title has their number."""
    lines = listed_errors([str(n) for n in range(22)], "web.yaml: ")

    assert lines[0] == "web.yaml: 22 errors:"
    assert lines[-2:] == ("  19", "  and 2 more")
    assert listed_errors(["one"]) == ()

"""Refusals of a server in the words of the command."""

from compute.cli.exits import Exit
from compute.cli.shell.errors import failure_of
from kubekit.api.errors import not_found
from kubekit.api.kinds.core import ConfigMap, Namespace


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

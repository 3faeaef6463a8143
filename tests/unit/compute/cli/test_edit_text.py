"""The text that `workloads edit` opens, and what is read from it."""

import pytest

from compute.cli.look.edit_text import (
    UnusableText,
    editable,
    read_text,
    text_of,
    with_comments,
    without_comments,
)

DOCUMENT = {
    "apiVersion": "compute.datumapis.com/v1alpha",
    "kind": "Workload",
    "metadata": {
        "name": "web",
        "namespace": "default",
        "uid": "1",
        "resourceVersion": "7",
        "labels": {"team": "shöp"},
    },
    "spec": {"later": ["fields stay"]},
    "status": {"replicas": 1},
}
BASE = editable(DOCUMENT)


def test_server_fields_are_not_edited():
    """Fields of the spec that only a newer version knows are there."""
    assert text_of(BASE) == (
        "apiVersion: compute.datumapis.com/v1alpha\n"
        "kind: Workload\n"
        "metadata:\n"
        "  name: web\n"
        "  namespace: default\n"
        "  labels:\n"
        "    team: shöp\n"
        "spec:\n"
        "  later:\n"
        "  - fields stay\n"
    )


def test_problems_are_comments_at_the_top():
    """They are not read again, while a comment of the user's own may stay anywhere below."""
    shown = with_comments(text_of(BASE), ["spec.placements: required"])

    assert "# It was not saved:\n#   * spec.placements: required\n" in shown
    assert without_comments(shown) == text_of(BASE)
    assert read_text(shown + "# mine\n", BASE) == BASE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: b: c\n", "line 7, column 5"),
        ("- a\n", "there has to be exactly one document, with apiVersion and kind"),
        ("---\n", "there has to be exactly one document, with apiVersion and kind"),
        (text_of(BASE) + "---\na: 1\n", "there has to be exactly one document"),
        (text_of(BASE).replace("name: web", "name: api"), "metadata.name: must stay web"),
        ("kind: Workload\n", "apiVersion: must stay compute.datumapis.com/v1alpha"),
        ("kind: Workload\nmetadata: 7\n", "apiVersion: must stay"),
    ],
)
def test_a_text_that_cannot_be_used(text, problem):
    """Each problem is a sentence."""
    with pytest.raises(UnusableText) as error:
        read_text(text, BASE)

    assert problem in error.value.problems[0]

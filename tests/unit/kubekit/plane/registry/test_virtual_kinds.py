"""Documents that are created to be answered, and never stored."""

import pytest

from kubekit.api.errors import BadRequest, Invalid, MethodNotAllowed
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.virtual_kinds import VirtualHandlers, VirtualRequest
from kubekit.plane.users import User
from tests.support.kubekit import virtual_time
from tests.support.kubekit.question_builders import echo, robots, virtual


def asked(ask, **parts):
    """The answer to a question, and the question afterwards."""
    questions = VirtualHandlers()
    parts.setdefault("kind", virtual("Riddle"))
    parts.setdefault("document", {})
    question = VirtualRequest(**parts)
    questions.handlers[question.kind.storage, question.subresource] = ask
    return virtual_time.run(questions.handle(question)), question


async def slow_echo(question):
    return echo(question)


@pytest.mark.parametrize("ask", [echo, slow_echo])
def test_an_answer_is_the_question_with_an_answer(ask):
    """It may come at once or take its time; the document says what it is even if it did not."""
    answer, _ = asked(ask, document={"spec": {}}, user=User("bob"))

    assert answer == {
        "apiVersion": "ask.io/v1",
        "kind": "Riddle",
        "metadata": {},
        "spec": {"text": "why"},
        "status": {"asked by": "bob", "of": ""},
    }


def test_a_question_about_one_object():
    """It is put to a part of the object, and is a document of another kind, in its namespace."""
    answer, question = asked(
        echo, kind=robots(), namespace="lab", name="r2", subresource="mood", document={}
    )

    assert (answer["kind"], answer["metadata"]) == ("Mood", {"namespace": "lab"})
    assert (question.name, question.form.resource.kind) == ("r2", "Mood")


def test_a_question_must_fit_its_schema():
    """The handler gets only documents that fit."""
    with pytest.raises(Invalid, match=r"spec\.text"):
        asked(echo, document={"spec": {"text": 1}})
    with pytest.raises(BadRequest, match="API version"):
        asked(echo, document={"apiVersion": "ask.io/v2"})


def test_a_question_that_has_no_namespace_keeps_none():
    """As with what is stored, one that is given is left out."""
    answer, _ = asked(echo, document={"metadata": {"namespace": "x"}})
    assert "namespace" not in answer["metadata"]


def test_unknown_fields_are_dropped_and_reported_or_refused():
    """As they are for what is stored."""
    document = {"spec": {"odd": 1}, "metadata": {"strange": 1}}
    answer, question = asked(echo, document=dict(document))

    assert answer["spec"] == {"text": "why"}
    assert question.warnings == [
        'unknown field "metadata.strange"', 'unknown field "spec.odd"'
    ]  # fmt: skip
    with pytest.raises(BadRequest, match="strict decoding error"):
        asked(echo, document=dict(document), field_validation="Strict")


def test_a_kind_without_a_handler():
    """A kind may be served without a handler."""
    with pytest.raises(MethodNotAllowed):
        virtual_time.run(
            VirtualHandlers().handle(VirtualRequest(kind=virtual("Riddle"), document={}))
        )


def test_virtual_kinds_are_not_stored():
    """What goes through all that is kept does not come by them."""
    kinds = Kinds((virtual("Riddle"), robots()))

    assert list(kinds.stored()) == ["ask.io/robots"]
    assert kinds.find("ask.io", "v1", "riddles") is not None

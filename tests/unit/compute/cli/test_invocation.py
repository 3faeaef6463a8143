"""How next steps are spelled: as the user calls the command, in the project that the user named."""

import sys

import pytest

from compute.cli.invocation import program, repeat_flag, spelled, typed

STEP = "Run `compute rollout undo web`, or see `compute --help`; `compute down` stops it."


@pytest.mark.parametrize(
    ("called", "variables", "words"),
    [
        ("/usr/bin/compute", {}, "compute"),
        ("/usr/bin/kubectl-compute", {}, "kubectl compute"),
        ("/usr/bin/datumctl-compute", {}, "datumctl compute"),
        ("/opt/compute", {"DATUM_PLUGIN_API_VERSION": "1"}, "datumctl compute"),
    ],
)
def test_the_words_of_the_user(called, variables, words):
    assert program(called, variables) == words


def test_next_steps_are_in_the_words_of_the_user(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kubectl-compute"])

    assert typed("compute status web") == "kubectl compute status web"
    assert spelled("a compute node") == "a compute node"


def test_next_steps_are_for_the_project_that_the_user_named():
    repeat_flag("--project", "shop")
    repeat_flag("--namespace", "two words")

    assert spelled(STEP) == (
        "Run `compute rollout undo web --project shop --namespace 'two words'`, "
        "or see `compute --help`; `compute down` stops it."
    )
    assert typed("compute status --project other") == (
        "compute status --project other --namespace 'two words'"
    )

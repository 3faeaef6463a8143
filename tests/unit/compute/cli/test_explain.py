"""`compute explain` without a server, as a user sees it."""

import json

import pytest

from compute.api.reasons import NeighbourReason, Reason
from compute.cli.exits import Exit
from compute.cli.root import run
from compute.cli.understand.explained_words import words


@pytest.fixture
def explain(capsys):
    """Runs the command; gives code, stdout and stderr."""

    def _explain(*arguments: str) -> tuple[int, str, str]:
        code = run(["explain", *arguments])
        return (code, *capsys.readouterr())

    return _explain


@pytest.mark.parametrize("word", words())
def test_every_word_that_completion_offers_can_be_explained(explain, word):
    """Reasons, conditions, kinds and the exit codes, each without a server."""
    code, text, errors = explain(word)

    assert (code, errors) == (0, "")
    assert word.casefold() in text.casefold() or word == "exit-codes"


def test_a_reason_says_what_it_means_who_acts_and_what_to_do(explain):
    """In any letter case."""
    assert explain("quotaexceeded") == (
        0,
        """\
QuotaExceeded: a reason that compute gives
  The project has not enough quota left for the instance.

  Who acts:   you, the author of the workload
  What to do: Run `compute quota`; lower `compute scale NAME --min N`, delete something,
              or ask for more quota.
  Seen on:    QuotaGranted (Instance), ReplicasReady (WorkloadDeployment), Granted
              (ResourceClaim), Scheduled (ResourceBinding)
""",
        "",
    )


def test_a_condition_says_what_it_means_and_where_it_is(explain):
    """With its reasons on each kind."""
    assert explain("QuotaGranted")[1].startswith(
        """\
QuotaGranted: a type of condition
  True means: The project's quota covers the instance.

  Set by:     the cell, from the quota service's answer
  On:         Instance, with the reasons QuotaAvailable, QuotaDisabled,
"""
    )


def test_a_word_that_is_both_has_both_meanings(explain):
    """Available is a reason and a type of condition."""
    text = explain("available")[1]

    assert "Available: a reason that compute gives\n" in text
    assert "Available: a type of condition\n" in text
    assert len(json.loads(explain("available", "-o", "json")[1])) == 2


def test_a_field_has_its_type_default_rules_and_fields(explain):
    """A path without a kind is a Workload's."""
    assert explain("spec.placements[0].scalesettings.minreplicas")[1] == (
        """\
workload.spec.placements.scaleSettings.minReplicas  <integer>  required
  of Workload, compute.datumapis.com/v1alpha
  The least Instances per city, from 1 to 1000.
"""
    )
    assert explain("network.spec.ipFamilies")[1] == (
        """\
network.spec.ipFamilies  <list of string>
  of Network, networking.datumapis.com/v1alpha
  The families of addresses in use.
  Default: ["IPv4"]
  Rule:    each item: one of IPv4, IPv6
"""
    )
    assert "  networkInterfaces  <list of object>" in explain("spec.template.spec")[1]


def test_the_exit_codes_are_all_listed(explain):
    """Scripts rely on them."""
    code, text, _ = explain("exit-codes")

    assert code == 0
    assert [int(line.split()[0]) for line in text.splitlines()[1:]] == [int(e) for e in Exit]


def test_without_an_argument_it_says_what_can_be_explained(explain):
    """Every reason is in the list."""
    text = " ".join(explain()[1].split())

    assert text.startswith("What can be explained: An object, and why it does not run:")
    assert all(reason in text for reason in (*Reason, *NeighbourReason))
    assert json.loads(explain("-o", "json")[1])["objects"] == ["workload", "deployment", "instance"]


@pytest.mark.parametrize(
    ("word", "cause", "next_step"),
    [
        ("Nope", "nothing is known about Nope", "compute explain"),
        (
            "ImageUnavailble",
            "nothing is known about ImageUnavailble; did you mean ImageUnavailable?",
            "compute explain",
        ),
        ("Sunny", "nothing is known about Sunny", "compute explain"),
        (
            "spec.placement",
            "workload.spec has no field placement; did you mean workload.spec.placements?",
            "compute explain workload.spec",
        ),
        (
            "instance.status.zzz",
            "instance.status has no field zzz",
            "compute explain instance.status",
        ),
    ],
)
def test_an_unknown_word_names_the_nearest(explain, word, cause, next_step):
    """With exit code 7."""
    assert explain(word) == (7, "", f"Error: {cause}\nNext:  {next_step}\n")


def test_an_unknown_word_is_an_error_in_json_too(explain):
    """For scripts."""
    code, _, errors = explain("Sunny", "-o", "json")

    assert code == 7
    assert json.loads(errors)["error"]["message"] == "nothing is known about Sunny"


def test_an_explanation_is_data_for_programs(explain):
    """The same facts, with their names."""
    reason = json.loads(explain("QuotaExceeded", "-o", "json")[1])
    field = json.loads(explain("spec.placements", "-o", "json")[1])

    assert (reason["reason"], reason["owner"]) == ("QuotaExceeded", "user")
    assert (field["path"], field["type"]) == ("workload.spec.placements", "list of object")
    assert explain("exit-codes", "-o", "yaml")[1].startswith("- code: 0\n  name: OK\n")

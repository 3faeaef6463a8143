"""Names, labels and annotations of a Workload and of its template."""

import pytest

from compute.api import annotations
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import ABSENT, blamed, errors_of, sandbox

TEMPLATE = "spec/template/metadata"


@pytest.mark.parametrize("name", ["w", "web", "9-lives", "w" * 63])
def test_a_dns_label_is_a_name(name):
    """A Workload may have any name that can also be the value of a label."""
    assert errors_of(sandbox({"metadata/name": name})) == []


@pytest.mark.parametrize("name", ["Web", "-web", "web-", "we_b", "a.b", "w" * 64, "web\n", "wéb"])
def test_w45_other_names_are_refused(name):
    """A name that is no DNS label would later make labels that no server takes."""
    got = blamed(sandbox({"metadata/name": name}))

    assert got == [("metadata.name", Problem.INVALID)]


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("Web_App", '; for example "web-app"'),
        ("---", ""),
        ("W" * 70, f'; for example "{"w" * 63}"'),
    ],
    ids=["mendable", "nothing left", "cut"],
)
def test_a_wrong_name_comes_with_a_right_one(name, example):
    """The user is shown the nearest name that would do, if there is one."""
    (got,) = errors_of(sandbox({"metadata/name": name}))

    assert got.endswith(f"at both ends{example}")


def test_a_name_is_needed():
    """Without a name or a prefix to make one from, nothing can be stored."""
    assert blamed(sandbox({"metadata/name": ABSENT})) == [("metadata.name", Problem.REQUIRED)]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("web-", []),
        ("w" * 100, []),
        ("Web-", [("metadata.generateName", Problem.INVALID)]),
    ],
    ids=["right", "long, so the server cuts it", "upper case"],
)
def test_a_generated_name_is_judged_by_its_prefix(prefix, expected):
    """The server adds letters to the prefix; what comes out must be a DNS label."""
    assert blamed(sandbox({"metadata/name": ABSENT, "metadata/generateName": prefix})) == expected


def test_a_namespace_is_a_dns_label():
    """A namespace that no server has is refused before one is asked."""
    assert blamed(sandbox({"metadata/namespace": "Team\x1b[31m"})) == [
        ("metadata.namespace", Problem.INVALID)
    ]
    assert blamed(sandbox({"metadata/namespace": "team"})) == []


def test_a_name_is_not_validated_again():
    """A Workload stored under a wrong name can still be updated: the name cannot change."""
    stored = sandbox({"metadata/name": "Old.Name"})

    assert blamed(stored, old=stored) == []


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (annotations.PAUSED, "true", None),
        (annotations.PAUSED, "false", None),
        (annotations.PAUSED, "yes", Problem.NOT_SUPPORTED),
        (annotations.PAUSED, "", Problem.NOT_SUPPORTED),
        (annotations.MAX_UNAVAILABLE, "1", None),
        (annotations.MAX_UNAVAILABLE, "1%", None),
        (annotations.MAX_UNAVAILABLE, "99%", None),
        (annotations.MAX_UNAVAILABLE, "100%", None),
        (annotations.MAX_UNAVAILABLE, "0", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "0%", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "101%", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "-1", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "1.5", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "1\n", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "9" * 5000, Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "٣", Problem.INVALID),
        (annotations.MAX_UNAVAILABLE, "", Problem.INVALID),
    ],
)
def test_settings_of_the_rollout_are_checked(key, value, problem):
    """A switch is true or false; how many may be down at once is a number or a share, never none."""
    got = blamed(sandbox({"metadata/annotations": {key: value}}))

    assert got == ([(f"metadata.annotations[{key}]", problem)] if problem else [])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"app": "web", "example.test/tier": ""}, []),
        ({"app": "not a value"}, [("labels[app]", Problem.INVALID)]),
        ({"not a key": "web"}, [("labels[not a key]", Problem.INVALID)]),
        ({"EXAMPLE/tier": "a"}, [("labels[EXAMPLE/tier]", Problem.INVALID)]),
        (
            {"compute.datumapis.com/workload-uid": "forged"},
            [("labels[compute.datumapis.com/workload-uid]", Problem.FORBIDDEN)],
        ),
        (
            {"compute.datumapis.com/anything": "x"},
            [("labels[compute.datumapis.com/anything]", Problem.FORBIDDEN)],
        ),
        (
            {"meta.datumapis.com/upstream-namespace": "other-project"},
            [("labels[meta.datumapis.com/upstream-namespace]", Problem.FORBIDDEN)],
        ),
        (
            {"topology.datum.net/city-code": "LHR"},
            [("labels[topology.datum.net/city-code]", Problem.FORBIDDEN)],
        ),
        (
            {"services.miloapis.com/service-name": "x"},
            [("labels[services.miloapis.com/service-name]", Problem.FORBIDDEN)],
        ),
    ],
    ids=["right", "value", "key", "prefix", "uid", "ours", "upstream", "topology", "service"],
)
def test_labels_of_the_template_are_checked(labels, expected):
    """Instances get the template's labels, so these must be labels, and none that says whose it is."""
    got = blamed(sandbox({TEMPLATE: {"labels": labels}}))

    assert got == [(f"spec.template.metadata.{path}", problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("example.test/note", "anything at all\n", None),
        (annotations.RESTARTED_AT, "2026-06-01T12:00:00Z", None),
        (annotations.RESTARTED_AT, "2026-06-01T12:00:00.5+02:00", None),
        (annotations.RESTARTED_AT, "yesterday", Problem.INVALID),
        (annotations.RESTARTED_AT, "", Problem.INVALID),
        ("not a key", "x", Problem.INVALID),
        (annotations.SUSPENDED, "false", Problem.FORBIDDEN),
        ("compute.datumapis.com/restarted-at", "x", Problem.FORBIDDEN),
    ],
)
def test_annotations_of_the_template_are_checked(key, value, problem):
    """Of our own annotations a template may have only the restart stamp and the login keys."""
    got = blamed(sandbox({TEMPLATE: {"annotations": {key: value}}}))

    assert got == ([(f"spec.template.metadata.annotations[{key}]", problem)] if problem else [])


@pytest.mark.parametrize("key", [annotations.PAUSED, annotations.MAX_UNAVAILABLE])
def test_a_setting_in_the_wrong_place_is_sent_to_the_right_one(key):
    """A rollout setting in the template would do nothing, so the error names its place."""
    (got,) = errors_of(sandbox({TEMPLATE: {"annotations": {key: "true"}}}))

    assert got == (
        f"spec.template.metadata.annotations[{key}]: Forbidden: "
        "this belongs in metadata.annotations of the Workload; move it there"
    )

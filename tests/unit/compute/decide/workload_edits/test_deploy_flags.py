"""The texts that flags of a deploy are written in."""

import pytest

from compute.decide.workload_edits import FlagError
from compute.decide.workload_edits.deploy_flags import (
    Assignment,
    EnvironmentSource,
    FileSource,
    PortEdit,
    assignment,
    environment_source,
    file_source,
    instance_type,
    name_or_removal,
    port,
)

KNOWN = "datumcloud/d1-standard-2"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("KEY=value", Assignment("KEY", "value")),
        ("KEY=", Assignment("KEY", "")),
        ("KEY=a=b-", Assignment("KEY", "a=b-")),
        ("KEY-", Assignment("KEY", None)),
    ],
)
def test_an_assignment_sets_or_removes(text, meant):
    """A dash at the end removes, unless it belongs to a value."""
    assert assignment("--env", text) == meant


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the key is empty"),
        ("=value", "the key is empty"),
        ("-", "there is no '=' in it"),
        ("TOKEN:hunter2", "there is no '=' in it"),
    ],
)
def test_a_text_that_is_no_assignment_is_refused(text, problem):
    """The error names the flag and both forms, and not the text, which may be a secret."""
    with pytest.raises(FlagError) as error:
        assignment("--env", text)

    assert str(error.value) == f"--env: {problem}; write KEY=VALUE, or KEY- to remove the key"


def test_a_name_is_added_or_removed():
    """As for the Secrets of private registries."""
    assert name_or_removal("--image-pull-secret", "hub") == Assignment("hub", "")
    assert name_or_removal("--image-pull-secret", "hub-") == Assignment("hub", None)
    with pytest.raises(FlagError, match="the name is empty"):
        name_or_removal("--image-pull-secret", "-")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("8080", PortEdit("http", 8080)),
        ("metrics=9090", PortEdit("metrics", 9090)),
        ("dns=53/udp", PortEdit("dns", 53, "UDP")),
        ("metrics-", PortEdit("metrics")),
    ],
)
def test_a_port_has_a_number_and_maybe_a_name(text, meant):
    """Without a name it is ``http``, as in the original."""
    assert port("--port", text) == meant


@pytest.mark.parametrize("text", ["", "-", "http", "0", "65536", "9" * 9, "a=b", "x/TCP"])
def test_a_text_that_is_no_port_is_refused(text):
    """The error shows the forms that are accepted."""
    with pytest.raises(FlagError, match="is no port from 1 to 65535; write 8080, metrics=9090"):
        port("--port", text)


def test_an_unknown_protocol_is_refused():
    """It names those that exist."""
    with pytest.raises(FlagError, match='--port: "ICMP" is none of TCP, UDP, SCTP'):
        port("--port", "80/ICMP")


def test_sources_of_variables_and_files():
    """A prefix or a path after a colon; a dash removes."""
    assert environment_source("--env-from-secret", "Secret", "db:DB_") == EnvironmentSource(
        "Secret", "db", "DB_"
    )
    assert environment_source("--env-from-secret", "Secret", "db-").removed
    assert file_source("--secret", "Secret", "db:/run/db") == FileSource("Secret", "db", "/run/db")
    assert file_source("--secret", "Secret", "db-") == FileSource("Secret", "db", None)


@pytest.mark.parametrize("text", ["", "-", "db", "db:", "db:run", ":/run"])
def test_a_text_that_is_no_source_of_files_is_refused(text):
    """A path is absolute."""
    with pytest.raises(FlagError, match="is neither NAME:/PATH, nor NAME-"):
        file_source("--secret", "Secret", text)


@pytest.mark.parametrize("text", [KNOWN, "datumcloud-d1-standard-2", "d1-standard-2"])
def test_every_spelling_of_an_instance_type_is_accepted(text):
    """Releases of the original spelled it with a dash, and without its vendor."""
    assert instance_type(text) == KNOWN


def test_an_unknown_instance_type_names_the_nearest():
    """A text that is like none gets the list alone."""
    with pytest.raises(FlagError) as near:
        instance_type("d1-standart-2")
    with pytest.raises(FlagError) as far:
        instance_type("huge")

    assert near.value.problem == (
        f'there is no instance type "d1-standart-2", only {KNOWN}; did you mean {KNOWN}?'
    )
    assert far.value.problem == f'there is no instance type "huge", only {KNOWN}'

"""Kubeconfigs from anywhere: whatever is in them, there is a connection or one kind of error."""

import copy
import json
import tempfile
from pathlib import Path

import yaml
from hypothesis import given, settings, strategies as st

from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import contexts, load, load_all
from tests.support.generated import depth
from tests.support.kubekit.kubeconfig_builders import (
    V1,
    authority_pem,
    b64,
    client_pair,
    config,
    environment,
    pair_data,
)

GOOD = config(
    {
        "certificate-authority-data": b64(authority_pem()),
        "proxy-url": "http://proxy",
        "extensions": [{"name": "a", "extension": {"b": 1}}],
    },
    {
        **pair_data(client_pair()),
        "token": "t",
        "tokenFile": "file",
        "as": "jo",
        "as-user-extra": {"a": ["b"]},
        "exec": {"command": "x", "apiVersion": V1, "interactiveMode": "Never", "args": ["a"]},
    },
    {"namespace": "n"},
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("\0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def tried(data: bytes) -> None:
    """Load the file in every way; anything but the one error class comes through."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config"
        path.write_bytes(data)
        for way in (
            lambda: load(environment(), [path], "", {}),
            lambda: load(environment(), [path], "other", {}),
            lambda: contexts([path], {}),
        ):
            try:
                way()
            except Misconfigured as error:
                assert str(path) in str(error)  # noqa: PT017 - either outcome is right
        load_all(environment(), path, {})


def places(value, path=()):
    """The way to each value of a document."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def replaced(document, path, value):
    made = copy.deepcopy(document)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@settings(max_examples=depth.examples(100))
def test_any_bytes_give_a_connection_or_the_error(data):
    """No byte string makes anything but `Misconfigured`, which names the file."""
    tried(data)


@given(st.data())
@settings(max_examples=depth.examples(120))
def test_any_value_in_any_place_gives_a_connection_or_the_error(data):
    """A good file with one value replaced by anything is read or refused."""
    path = data.draw(st.sampled_from([each for each in places(GOOD) if each]))
    tried(json.dumps(replaced(GOOD, path, data.draw(_values))).encode())


@given(st.data())
@settings(max_examples=depth.examples(100))
def test_a_torn_file_gives_a_connection_or_the_error(data):
    """A file that is being written, or was damaged, is read or refused."""
    text = yaml.safe_dump(GOOD).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    tried(text[:start] + data.draw(st.binary(max_size=6)) + text[end:])

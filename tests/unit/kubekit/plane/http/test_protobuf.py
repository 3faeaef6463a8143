"""Protobuf of built-in kinds, against bytes that a real kube-apiserver wrote."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies

from kubekit.api.errors import ApiError
from kubekit.plane.http.content.protobuf import read_protobuf

# Each object as kube-apiserver v1.34.4 served it in both forms, without managedFields in the JSON.
GOLDEN = json.loads(Path(__file__).with_name("kubernetes_protobuf.json").read_text())


@pytest.mark.parametrize("kind", GOLDEN)
def test_an_object_reads_as_its_json(kind):
    """Both forms of one object are the same document."""
    golden = GOLDEN[kind]
    assert read_protobuf(bytes.fromhex(golden["protobuf"])) == golden["json"]


@given(cut=strategies.integers(0, 2000), wrong=strategies.binary(max_size=8))
def test_broken_bytes_are_refused_and_never_worse(cut, wrong):
    """Whatever stands in the middle of an object: a document or a refusal."""
    whole = bytes.fromhex(GOLDEN["v1 Event"]["protobuf"])
    assert _outcome(whole[:cut] + wrong + whole[cut + len(wrong) :]) in ("a document", 400, 415)


def test_delete_options_are_read():
    """Typed clients send these as protobuf too. An absent optional field is distinguished from zero."""
    kind = b"\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions"
    options = b"\x08\x00\x12\x05\x0a\x03abc\x18\x00\x22\x06Orphan\x2a\x03All"
    body = b"k8s\0" + kind + b"\x12" + bytes([len(options)]) + options
    assert read_protobuf(body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "abc"},
        "orphanDependents": False,
        "propagationPolicy": "Orphan",
        "dryRun": ["All"],
    }


def test_unknown_fields_are_passed_over():
    """A newer client may say more, in any wire type."""
    kind = b"\x0a\x0f\x0a\x02v1\x12\x09ConfigMap"
    more = b"\xf8\x07\x01" + b"\xf9\x07" + b"x" * 8 + b"\xfd\x07" + b"x" * 4 + b"\xfa\x07\x01x"
    raw = b"\x0a\x03\x0a\x01a" + more
    body = b"k8s\0" + kind + more + b"\x12" + bytes([len(raw)]) + raw
    assert read_protobuf(body) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
    }


def test_numbers_below_zero_are_read():
    """64 bits in two's complement."""
    kind = b"\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions"
    raw = b"\x08" + b"\xff" * 9 + b"\x01"
    body = b"k8s\0" + kind + b"\x12" + bytes([len(raw)]) + raw
    document = read_protobuf(body)
    assert isinstance(document, dict)
    assert document["gracePeriodSeconds"] == -1


def _outcome(body: bytes) -> str | int:
    try:
        return "a document" if isinstance(read_protobuf(body), dict) else "something else"
    except ApiError as refused:
        return refused.code

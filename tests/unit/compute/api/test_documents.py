"""Every kind, against a document as people and servers write it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kubekit.api import scheme

HERE = Path(__file__).parent / "documents"
WHOLE = ("compute", "networking", "milo", "karmada", "kubernetes", "admission")
# Their fields are tested elsewhere: with Workloads and with the wire.
ELSEWHERE = {
    "compute.api.compute",
    "compute.api.instance_spec",
    "kubekit.api.kinds.value_sources",
    "kubekit.api.meta",
}


def documents(*files: str) -> list[dict[str, Any]]:
    return [
        document
        for file in files
        for document in yaml.safe_load_all((HERE / f"{file}.yaml").read_text())
    ]


def title(document: dict[str, Any]) -> str:
    return f"{document['apiVersion']}-{document['kind']}"


def holds(whole: Any, part: Any) -> bool:
    """Whether everything that ``part`` says is said by ``whole`` too."""
    match part:
        case dict():
            return all(key in whole and holds(whole[key], part[key]) for key in part)
        case list():
            return len(whole) == len(part) and all(map(holds, whole, part))
        case _:
            return bool(whole == part)


def said(value: Any) -> Iterator[tuple[type, str]]:
    """Each field that a value, or anything within it, writes."""
    if isinstance(value, msgspec.Struct):
        yield from ((type(value), name) for name in msgspec.to_builtins(value))
        yield from said([getattr(value, field) for field in value.__struct_fields__])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from said(item)


@pytest.mark.parametrize("document", documents(*WHOLE), ids=title)
def test_a_document_comes_back_as_it_was(document):
    """What is read from a document writes that document: each name exact, nothing lost or added."""
    got = scheme.decode(document)
    wire = scheme.encode(got)

    assert json.loads(wire) == document
    assert scheme.decode(wire) == got


@pytest.mark.parametrize("document", documents(*WHOLE), ids=title)
def test_fields_of_a_newer_release_are_dropped(document):
    """An unknown field, at the top or deep inside, does not keep an object from being read."""
    newer = document | {
        "newer": {"a": [1]},
        "metadata": document["metadata"] | {"newer": True},
    }

    assert scheme.decode(newer) == scheme.decode(document)


@pytest.mark.parametrize("document", documents("samples"), ids=title)
def test_samples_are_read_whole(document):
    """Everything in a manifest of the original is understood and written again."""
    wire = scheme.encode(scheme.decode(document))

    assert holds(json.loads(wire), document)


def test_every_kind_has_a_document():
    """The documents cover each registered kind exactly once."""
    kinds = [type(scheme.decode(document)) for document in documents(*WHOLE)]

    assert sorted(kinds, key=str) == sorted(scheme.kinds(), key=str)


def test_every_field_is_in_a_document():
    """No name on the wire is left unproven: each field is written in some document."""
    written = {pair for d in documents(*WHOLE) for pair in said(scheme.decode(d))}
    fields = {
        (struct, field.encode_name)
        for struct in {struct for struct, _ in written}
        if struct.__module__ not in ELSEWHERE
        for field in msgspec.structs.fields(struct)
    }

    assert fields - written == set()

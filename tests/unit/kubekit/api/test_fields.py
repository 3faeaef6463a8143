"""Field errors read as Kubernetes prints them."""

import pytest

from kubekit.api import fields
from kubekit.api.fields import FieldError, Path, Problem

SPEC = Path("spec")


def test_paths_are_built_from_the_root():
    """Children, positions and keys join as in an API server's messages."""
    assert Path("").child("spec") == "spec"
    assert SPEC.child("template", "spec").child("volumes").at(2).child("name") == (
        "spec.template.spec.volumes[2].name"
    )
    assert SPEC.child("annotations").key("a/b") == "spec.annotations[a/b]"


def test_a_name_beyond_all_reason_is_cut():
    """Each error below it repeats it, and a hundred megabytes of them are useless."""
    assert SPEC.child("a" * 10**6, "b") == f"spec.{'a' * 512}....b"
    assert SPEC.key("a" * 10**6) == f"spec[{'a' * 512}...]"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (fields.required(SPEC, "name one"), "spec: Required value: name one"),
        (fields.required(SPEC), "spec: Required value"),
        (fields.invalid(SPEC, -1, "must be positive"), "spec: Invalid value: -1: must be positive"),
        (fields.invalid(SPEC, "é", "no"), 'spec: Invalid value: "é": no'),
        (fields.invalid(SPEC, "a" * 10**6, "no"), f'spec: Invalid value: "{"a" * 255}...: no'),
        (fields.duplicate(SPEC, {"name": "a"}), 'spec: Duplicate value: {"name":"a"}'),
        (fields.duplicate(SPEC, "a", "was [0]"), 'spec: Duplicate value: "a": was [0]'),
        (fields.not_found(SPEC, "a"), 'spec: Not found: "a"'),
        (fields.forbidden(SPEC, "not here"), "spec: Forbidden: not here"),
        (fields.too_long(SPEC, "aaaa", 3), "spec: Too long: may not be more than 3 bytes"),
        (
            FieldError("spec", Problem.TOO_MANY, "must have at most 2 items", 3),
            "spec: Too many: 3: must have at most 2 items",
        ),
        (
            fields.not_supported(SPEC, "c", ["a", "b"]),
            'spec: Unsupported value: "c": supported values: "a", "b"',
        ),
        (
            fields.not_supported(SPEC, "c", [], "nothing is offered"),
            'spec: Unsupported value: "c": no value is supported; nothing is offered',
        ),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
def test_errors_in_words(error, text):
    """Each kind of error names the path, the value where it helps, and what is allowed."""
    assert str(error) == text


def test_only_so_many_supported_values_are_named():
    """A schema may list a hundred thousand, and each error would repeat them all."""
    error = fields.not_supported("spec.size", "x", map(str, range(1000)))

    assert error.detail.endswith('"99", ...')

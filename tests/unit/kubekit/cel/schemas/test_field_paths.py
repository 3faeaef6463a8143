"""Where rules say their errors belong."""

import pytest

from kubekit.cel.schemas.field_paths import BadPath, field_path

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "string"}}},
        "x.y": {"type": "string"},
        "it's": {"type": "string"},
        "m": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"c": {"type": "string"}}},
        },
    },
}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ""),
        (".a", "a"),
        (".a.b", "a.b"),
        ("['a'].b", "a.b"),
        (".a['b']", "a.b"),
        ("['x.y']", "x.y"),
        (r"['it\'s']", "it's"),
        (".m.k", "m[k]"),
        (".m['k.l'].c", "m[k.l].c"),
        (r".m['a\tb']", "m[a\tb]"),
    ],
)
def test_a_path_leads_to_a_field(text, path):
    """Fields and keys of maps can be named with a dot or in brackets."""
    assert field_path(text, SCHEMA) == path


@pytest.mark.parametrize(
    "text",
    [
        "a",
        ".",
        ".b",
        ".a.c",
        ".a.b.c",
        "[a]",
        "['a'",
        "['a",
        "['",
        "[']",
        "['a']b",
        ".a..b",
        ".m[0]",
        r"['\q']",
        "[['a']]",
        ".a[",
        " .a",
    ],
)
def test_what_leads_nowhere_is_refused(text):
    """A path that the schema does not have is reported when the rule is defined."""
    with pytest.raises(BadPath):
        field_path(text, SCHEMA)

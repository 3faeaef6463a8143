"""Random schemas with every validated keyword, and documents that almost match them."""

from typing import Any

from hypothesis import strategies as st

Json = Any
NAMES = st.sampled_from(("a", "b", "c", "metadata", "kind", 'q"', "n-n"))
TEXTS = st.sampled_from(
    (
        "",
        "a",
        "ab",
        "abc\n",
        "$",
        "2024-02-29T00:00:00Z",
        "2024-01-31T10:00:00.5Z",
        "2024-13-01",
        "é",
        "1.2.3.4",
        "aGk=",
    )
)
NUMBERS = st.sampled_from(
    (0, 1, -1, 5, 2**31, 2**53, 2**63, -(2**63), -(2**63) - 1, 1.0, 0.5, -2.5, 1e17, 2.0**53)
)
YES = st.sampled_from((True,))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
_PATTERNS = (
    "^a", "b$", "^[a-z]*$", r"\$$", "^$|^a$", "[$]", r"^\w+$", "(?i)AB", "^(?!a)", "a$\n?", "x{",
)  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Json], dict[str, Json]]:
    """The schema of an object, and a document that mostly follows it."""
    schema = draw(_objects(_schemas()))
    return schema, draw(_members(schema))


def _schemas() -> st.SearchStrategy[dict[str, Json]]:
    return st.recursive(_leaves(), lambda inner: _lists(inner) | _objects(inner), max_leaves=6)


@st.composite
def _leaves(draw: st.DrawFn) -> dict[str, Json]:
    schema: dict[str, Json] = draw(st.one_of(_texts(), _numbers(), _others()))
    for keyword, values in (
        ("nullable", YES),
        ("default", SCALARS),
        ("enum", st.lists(SCALARS, max_size=3)),
    ):
        if draw(st.integers(0, 5)) == 0:
            schema[keyword] = draw(values)
    return schema | draw(_alternatives())


def _alternatives() -> st.SearchStrategy[dict[str, Json]]:
    """Mostly nothing; else how a value may be, said in one or two of the four ways."""
    simple = st.sampled_from(
        (
            {"minimum": 3},
            {"minLength": 2},
            {"pattern": "^a"},
            {"enum": ["a", 1, None]},
            {"required": ["a"]},
            {"properties": {"a": {"minLength": 1}, "b": {"not": {"enum": [1]}}}},
            {"items": {"maximum": 3}},
            {"maxItems": 1},
            {"maxProperties": 1},
            {"type": "integer"},
            {"type": "string"},
            {"not": {"required": ["b"]}},
            {},
        )
    )
    several = st.lists(simple, min_size=1, max_size=3)
    ways = {"allOf": several, "anyOf": several, "oneOf": several, "not": simple}
    return st.integers(0, 3).flatmap(
        lambda chance: st.just({}) if chance else st.fixed_dictionaries({}, optional=ways)
    )


def _texts() -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 4),
            "pattern": st.sampled_from(_PATTERNS),
            "format": st.sampled_from(("date-time", "date", "byte", "ipv4", "int32", "odd")),
        },
    )


def _numbers() -> st.SearchStrategy[dict[str, Json]]:
    bounds = st.sampled_from((0, 1, -1, 0.5, 2**31, 2**60, -(2**64)))
    return st.fixed_dictionaries(
        {"type": st.sampled_from(("integer", "number"))},
        optional={
            "minimum": bounds,
            "maximum": bounds,
            "exclusiveMinimum": st.booleans(),
            "exclusiveMaximum": st.booleans(),
            "multipleOf": st.sampled_from((1, 2, 0.5, 2.5)),
            "format": st.sampled_from(("int32", "int64", "double")),
        },
    )


def _others() -> st.SearchStrategy[dict[str, Json]]:
    schemas: tuple[dict[str, Json], ...] = (
        {"type": "boolean"},
        {"type": "odd"},
        {},
        {"minLength": 2},
        {"x-kubernetes-preserve-unknown-fields": True},
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-int-or-string": True, "pattern": "^a$", "maximum": 3},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"x-kubernetes-preserve-unknown-fields": True, "format": "date"},
        {"type": "object"},
        {"type": "array"},
    )
    return st.sampled_from(schemas).map(lambda schema: {**schema})


@st.composite
def _lists(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    keyed: dict[str, Json] = draw(
        st.sampled_from(
            (
                {},
                {"x-kubernetes-list-type": "set"},
                {"x-kubernetes-list-type": "atomic"},
                {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
                {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]},
            )
        )
    )
    extra = {
        "nullable": YES,
        "minItems": st.integers(0, 1),
        "maxItems": st.integers(1, 3),
        "default": VALUES,
    }
    kept = draw(st.fixed_dictionaries({}, optional=extra))
    for keyword in ("uniqueItems", "x-kubernetes-preserve-unknown-fields"):
        if draw(st.integers(0, 9)) == 0:
            kept[keyword] = True
    items = {} if draw(st.integers(0, 9)) == 0 and not keyed else {"items": draw(inner)}
    return {"type": "array"} | items | keyed | kept | draw(_alternatives())


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object"}
    for keyword, values, chance in (
        ("properties", st.dictionaries(NAMES, inner, max_size=4), 1),
        ("required", st.lists(NAMES, unique=True, max_size=2), 2),
        ("additionalProperties", inner | st.booleans(), 4),
        ("x-kubernetes-embedded-resource", YES, 6),
        ("x-kubernetes-preserve-unknown-fields", YES, 6),
        ("minProperties", st.integers(0, 2), 6),
        ("maxProperties", st.integers(0, 3), 6),
        ("nullable", YES, 6),
        ("default", st.dictionaries(NAMES, VALUES, max_size=2), 6),
    ):
        if draw(st.integers(1, chance)) == 1:
            schema[keyword] = draw(values)
    if draw(st.integers(0, 9)) == 0:
        del schema["type"]
    return schema | draw(_alternatives())


def _fitting(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    fitting: list[st.SearchStrategy[Json]] = [VALUES]
    match schema.get("type"):
        case "object":
            fitting = [_members(schema)] * 4 + fitting
        case "array":
            fitting = [st.lists(_fitting(schema.get("items", {})), max_size=3)] * 4 + fitting
        case "string":
            fitting = [TEXTS] * 4 + fitting
        case "integer" | "number":
            fitting = [NUMBERS] * 4 + fitting
        case _:
            pass
    return st.one_of(fitting + ([st.sampled_from(schema["enum"])] if schema.get("enum") else []))


@st.composite
def _members(draw: st.DrawFn, schema: dict[str, Json]) -> dict[str, Json]:
    named = {name: _fitting(inner) for name, inner in schema.get("properties", {}).items()}
    members: dict[str, Json] = draw(st.fixed_dictionaries({}, optional=named))
    if schema.get("x-kubernetes-embedded-resource") and draw(st.integers(0, 3)):
        members |= {"apiVersion": "v1", "kind": "Pod"}
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        members = draw(st.dictionaries(NAMES, _fitting(others), max_size=2)) | members
    elif draw(st.integers(0, 3)) == 0:
        members = draw(st.dictionaries(NAMES, VALUES, max_size=1)) | members
    return members

"""Random structural schemas, and documents that nearly fit them."""

from typing import Any

from hypothesis import strategies as st

Json = Any
NAMES = st.sampled_from("abcd")
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(-2, 2), st.sampled_from(["", "a", "z"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def documents() -> st.SearchStrategy[dict[str, Json]]:
    """Objects that fit no schema on purpose."""
    return st.dictionaries(NAMES | st.just("metadata"), VALUES, max_size=4)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Json], dict[str, Json]]:
    """The schema of an object, and a document that mostly follows it."""
    schema = draw(_objects(_schemas()))
    return schema, draw(_members(schema))


def _schemas() -> st.SearchStrategy[dict[str, Json]]:
    return st.recursive(_scalars(), lambda inner: _lists(inner) | _objects(inner), max_leaves=8)


@st.composite
def _scalars(draw: st.DrawFn) -> dict[str, Json]:
    schema: dict[str, Json] = dict(
        draw(
            st.sampled_from(
                (
                    {"type": "boolean", "default": True},
                    {"type": "integer", "minimum": 0, "default": 3},
                    {"type": "number", "maximum": 5, "default": 2.5},
                    {"type": "string", "minLength": 1, "default": "a"},
                    {"type": "string", "enum": ["a", "b"], "default": "b"},
                    {"x-kubernetes-int-or-string": True, "default": "a"},
                    {"x-kubernetes-preserve-unknown-fields": True},
                )
            )
        )
    )
    if draw(st.booleans()):
        schema.pop("default", None)
    return schema | ({"nullable": True} if draw(st.booleans()) else {})


@st.composite
def _lists(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    return {"type": "array", "items": draw(inner)} | (
        {"minItems": 1} if draw(st.booleans()) else {}
    )


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    match draw(st.sampled_from(("named", "named", "map", "embedded", "anything"))):
        case "map":
            return {"type": "object", "additionalProperties": draw(inner)}
        case "anything":
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        case kind:
            properties = draw(st.dictionaries(NAMES, inner, max_size=3))
            required = draw(st.lists(NAMES, unique=True, max_size=2))
            embedded = {"x-kubernetes-embedded-resource": True} if kind == "embedded" else {}
            return {"type": "object", "properties": properties, "required": required} | embedded


def _fitting(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    match schema.get("type"):
        case "object":
            return _members(schema) | VALUES
        case "array":
            return st.lists(_fitting(schema["items"]), max_size=3) | VALUES
        case _:
            return VALUES


@st.composite
def _members(draw: st.DrawFn, schema: dict[str, Json]) -> dict[str, Json]:
    named = {name: _fitting(inner) for name, inner in schema.get("properties", {}).items()}
    members: dict[str, Json] = draw(st.fixed_dictionaries({}, optional=named))
    others = (
        _fitting(schema["additionalProperties"]) if "additionalProperties" in schema else VALUES
    )
    return draw(st.dictionaries(NAMES | st.just("metadata"), others, max_size=2)) | members

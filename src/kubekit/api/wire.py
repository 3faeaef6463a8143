"""How a Python class is encoded as JSON, and its schema rules in the CRD.

A kind is a tree of `Wire` structs. Reading is lenient: unknown fields are dropped, and no rule of
the schema is enforced, because one stored object that breaks a newer rule must not hide the
others from a controller. The rules are `Rule` annotations, which the CRD generator and the structural
validator read.

A decoded object is a view for reading. Writing it back whole would erase the fields that a newer
server knows and we do not: writes are patches of what changed.
"""

from typing import Annotated, Any, Final, TypeVar

import msgspec

T = TypeVar("T")

INT_OR_STRING_QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?"
    r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The base class of all API structs: immutable, with camelCase names, without empty fields.

    Subclasses repeat ``frozen=True, kw_only=True``: type checkers do not see inherited options.
    The cyclic garbage collector skips these structs: frozen trees have no cycles, and walking
    hundreds of thousands of them at each full collection is the largest cost of a long-lived cache.
    """


def always(value: T) -> T:
    """A default that is written even when unchanged, as ``kind`` and the counters must be."""
    field: T = msgspec.field(default_factory=lambda: value)
    return field


class Cel(msgspec.Struct, frozen=True):
    """One ``x-kubernetes-validations`` entry."""

    rule: str
    message: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """The schema rules of a field beyond its type. ``None`` means no rule."""

    default: Any = None
    enum: tuple[str, ...] | None = None
    exclusive_minimum: int | None = None
    format: str | None = None
    max_items: int | None = None
    max_length: int | None = None
    maximum: int | None = None
    min_items: int | None = None
    min_length: int | None = None
    minimum: int | None = None
    nullable: bool | None = None
    pattern: str | None = None
    required: bool | None = None  # overrides "no Python default means required"
    list_map_keys: tuple[str, ...] | None = None
    list_type: str | None = None  # "atomic" or "set"; a list-map has keys instead
    map_type: str | None = None  # "atomic" or "granular"
    int_or_string: bool | None = None
    preserve_unknown_fields: bool | None = None
    validations: tuple[Cel, ...] | None = None

    def over(self, other: "Rule") -> "Rule":
        """The union of both rules; this one takes precedence."""
        merged = {
            f.name: getattr(other, f.name)
            if getattr(self, f.name) is None
            else getattr(self, f.name)
            for f in msgspec.structs.fields(self)
        }
        return Rule(**merged)


def list_map(*keys: str) -> Rule:
    """Entries are identified by these keys, so that several writers can own different entries."""
    return Rule(list_map_keys=keys)


ATOMIC_LIST: Final = Rule(list_type="atomic")
ATOMIC_MAP: Final = Rule(map_type="atomic")

Int32 = Annotated[int, Rule(format="int32")]
Int64 = Annotated[int, Rule(format="int64")]
IntOrString = Annotated[int | str, Rule(int_or_string=True)]
# A quantity as it was written; `quantity.Quantity` parses it.
RawQuantity = Annotated[int | str, Rule(int_or_string=True, pattern=INT_OR_STRING_QUANTITY)]
# A number that is always written, and zero by default.
Counter = Annotated[int, Rule(format="int32", required=True)]

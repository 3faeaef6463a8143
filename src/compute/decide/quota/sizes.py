"""What an Instance costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from compute.api.instance_spec import InstanceSpec
from kubekit.api.quantity import ZERO, Quantity, QuantityError


@dataclass(frozen=True, slots=True)
class Size:
    """What quota counts of an Instance besides its existence."""

    millicores: int
    mebibytes: int


INSTANCE_TYPES: Final[Mapping[str, Size]] = MappingProxyType(
    {"datumcloud/d1-standard-2": Size(millicores=1000, mebibytes=2048)}
)

_MEBIBYTE: Final = Quantity.parse("1Mi")


def size(spec: InstanceSpec) -> Size | None:
    """The size to claim quota for; None when it is unknown, and the count alone is claimed.

    The containers' limits come first, then the Instance's own requests, then the catalog. Each
    counts only if it names both cpu and memory, for every container: half a size from one source
    and half from another would be no size that a user chose.
    """
    containers = spec.runtime.sandbox.containers if spec.runtime.sandbox else ()
    limits = [c.resources.limits if c.resources else {} for c in containers]
    resources = spec.runtime.resources
    stated = _sum(limits) or _sum([resources.requests])
    return stated or INSTANCE_TYPES.get(resources.instance_type)


def _sum(amounts: Sequence[Mapping[str, int | str]]) -> Size | None:
    """The sizes together: cpu rounded up, memory down, each once, at the end.

    An invalid quantity counts as absent: a stored Instance must not stop its controller.
    """
    try:
        cpu = sum((Quantity.parse(each["cpu"]) for each in amounts), ZERO)
        memory = sum((Quantity.parse(each["memory"]) for each in amounts), ZERO)
    except (KeyError, QuantityError):
        return None
    return Size(cpu.milli_value(), memory.floor_units(_MEBIBYTE)) if amounts else None

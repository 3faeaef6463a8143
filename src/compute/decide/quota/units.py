"""The units in which amounts of quota are displayed. Any other type is shown as it is counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from compute.decide.quota.claims import INSTANCES, MEMORY, VCPUS


@dataclass(frozen=True, slots=True)
class DisplayUnit:
    """How a resource type is displayed. ``factor`` is how many base units make one unit."""

    display_name: str
    unit: str
    factor: int
    noun: str  # after an amount in a sentence

    def number(self, amount: int) -> int | float:
        """An amount in this unit: 2500 millicores are 2.5."""
        whole, rest = divmod(amount, self.factor)
        return amount / self.factor if rest else whole

    def text(self, amount: int) -> str:
        """An amount as digits: 2500 millicores are 2.5."""
        return f"{self.number(amount):.15g}"

    def phrase(self, amount: int) -> str:
        """An amount with what it is of: 2048 MiB of memory."""
        plural = "s" if self.factor == 1 and self.unit == self.noun and amount != 1 else ""
        return f"{self.text(amount)} {self.noun}{plural}"


_KNOWN: Final[Mapping[str, DisplayUnit]] = MappingProxyType(
    {
        INSTANCES: DisplayUnit("Instances", "instance", 1, "instance"),
        VCPUS: DisplayUnit("vCPUs", "vCPU", 1000, "vCPU"),
        MEMORY: DisplayUnit("Memory", "MiB", 1, "MiB of memory"),
    }
)


def order(resource_type: str) -> tuple[int, str]:
    """A sort key: the types of compute in their usual order, then all others by name."""
    known = list(_KNOWN)
    return (known.index(resource_type) if resource_type in _KNOWN else len(known)), resource_type


def unit_of(resource_type: str) -> DisplayUnit:
    """The unit of a resource type."""
    known = _KNOWN.get(resource_type)
    if known is not None:
        return known
    name = resource_type.rpartition("/")[2]
    return DisplayUnit(name, "", 1, name)

"""The sizes of instances as people read them."""

from collections.abc import Iterable, Sequence

from compute.decide.quota import INSTANCE_TYPES, Size
from compute.decide.workload_edits.deploy_flags import DEFAULT_INSTANCE_TYPE
from compute.views.view import View

_MILLICORES = 1000


class InstanceTypeView(View, frozen=True, kw_only=True):
    """A type. ``spellings`` are further names that `deploy` takes; ``cities`` is None if unknown."""

    name: str
    spellings: tuple[str, ...]
    vcpu: float
    memory: int  # in MiB
    default: bool
    cities: tuple[str, ...] | None

    @property
    def memory_text(self) -> str:
        """The memory in the largest unit that keeps it a whole number."""
        gibibytes, rest = divmod(self.memory, 1024)
        return f"{self.memory} MiB" if rest else f"{gibibytes} GiB"


def instance_types(cities: Sequence[str] | None = None) -> tuple[InstanceTypeView, ...]:
    """Every type, by name. Each is offered in all cities of the project."""
    known = None if cities is None else tuple(cities)
    return tuple(_view(name, INSTANCE_TYPES[name], known) for name in sorted(INSTANCE_TYPES))


def found_type(word: str, types: Iterable[InstanceTypeView]) -> InstanceTypeView | None:
    """The type of this name, in any of its spellings."""
    typed = word.casefold()
    return next((each for each in types if typed in {each.name, *each.spellings}), None)


def _view(name: str, size: Size, cities: tuple[str, ...] | None) -> InstanceTypeView:
    return InstanceTypeView(
        name=name,
        spellings=(name.rpartition("/")[2], name.replace("/", "-")),
        vcpu=size.millicores / _MILLICORES,
        memory=size.mebibytes,
        default=name == DEFAULT_INSTANCE_TYPE,
        cities=cities,
    )

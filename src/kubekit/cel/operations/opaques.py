"""Values of the libraries of Kubernetes, which are opaque to expressions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from kubekit.api.quantity import Quantity
from kubekit.cel.values import INT64, NANOS

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True, order=True)
class Amount:
    """A quantity, and whether Kubernetes would call it an integer.

    That depends on how it was written: ``1000m`` is not an integer there, though it equals 1. ``scale``
    is the power of ten that Kubernetes stores it with; None if it is stored in another form.
    """

    quantity: Quantity
    scale: int | None = field(compare=False)

    @property
    def integer(self) -> int | None:
        units, rest = divmod(self.quantity.nanos, NANOS)
        is_kept_whole = self.scale is not None and self.scale >= 0
        return units if is_kept_whole and not rest and units in INT64 else None


@dataclass(frozen=True, slots=True)
class Cidr:
    """A range, with the address it was written with."""

    address: Address
    bits: int

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def masked(self) -> "Cidr":
        host = self.address.max_prefixlen - self.bits
        return Cidr(type(self.address)(int(self.address) >> host << host), self.bits)

    def holds(self, address: Address) -> bool:
        return self.address.version == address.version and (
            Cidr(address, self.bits).masked() == self.masked()
        )


@dataclass(frozen=True, slots=True)
class Format:
    """A format. ``weight`` is what a pattern for it costs for each character of a text."""

    name: str
    weight: int = field(compare=False)
    check: Callable[[str], list[str]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Semver:
    """A version. The part after a plus does not affect its order."""

    numbers: tuple[int, ...]
    prerelease: tuple[str, ...]

    def rank(self) -> tuple[object, ...]:
        """The sort key: a release comes after its prereleases."""
        words = tuple((0, int(w), "") if w.isdigit() else (1, 0, w) for w in self.prerelease)
        return self.numbers, not self.prerelease, words


@dataclass(frozen=True, slots=True)
class Url:
    scheme: str
    user: str
    host: str
    path: str
    query: str
    fragment: str

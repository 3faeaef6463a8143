"""The cities of a placement, compared with those that the project is offered.

City codes keep their case: labels and clusters are matched exactly, so ``dfw`` is not ``DFW``. Two
spellings never mean two cities, so a list that has both is refused.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compute.decide.validation.grammar import Taken, nearest
from kubekit.api.fields import FieldError, Path, duplicate, invalid, not_supported, required
from kubekit.api.selectors import label_syntax


@dataclass(frozen=True, slots=True)
class Choice:
    """The cities that one placement may choose."""

    offered: frozenset[str]
    kept: frozenset[str] = frozenset()  # the cities that it has already, even if no longer offered

    def allows(self, city: str) -> bool:
        return city in self.offered or city in self.kept

    def withdrawn(self, city: str) -> bool:
        return city in self.kept and city not in self.offered


def check_cities(path: Path, codes: Sequence[str], choice: Choice) -> Iterator[FieldError]:
    if not codes:
        yield required(path, "name at least one city")
    meant = _meant(codes, choice)
    taken = Taken()
    for position, code in enumerate(codes):
        at = path.at(position)
        spelling = meant[code.casefold()]
        if code == spelling:
            yield from taken.check(at, code)
            yield from _check_city(at, code, choice)
        else:
            yield duplicate(at, code, f'this is "{spelling}" in another case; keep "{spelling}"')


def city_warnings(path: Path, codes: Sequence[str], choice: Choice) -> Iterator[str]:
    for position, code in enumerate(codes):
        if choice.withdrawn(code):
            yield (
                f'{path.at(position)}: city "{code}" is no longer offered to this project; '
                "what runs there is drained; remove it when you can"
            )


def corrected_cities(codes: Sequence[str], choice: Choice) -> tuple[str, ...]:
    """The cities with the hints of their errors applied; a city without a hint is left out."""
    meant = _meant(codes, choice)
    spelled = (meant[code.casefold()] for code in codes)
    known = (c if choice.allows(c) else nearest(c, choice.offered) for c in spelled)
    return tuple(dict.fromkeys(city for city in known if city))


def _check_city(path: Path, code: str, choice: Choice) -> Iterator[FieldError]:
    if not choice.allows(code):
        yield not_supported(path, code, sorted(choice.offered), _hint(code, choice.offered))
    elif not code or label_syntax.value_fault(code):
        yield invalid(path, code, "cannot be the value of a label, so nothing can be placed there")


def _meant(codes: Sequence[str], choice: Choice) -> dict[str, str]:
    """For each city, whatever its case, the spelling to keep: one that is allowed, or the first."""
    meant = {code.casefold(): code for code in reversed(codes)}
    allowed = (code for code in reversed(codes) if choice.allows(code))
    return meant | {code.casefold(): code for code in allowed}


def _hint(code: str, offered: Collection[str]) -> str:
    if not offered:
        return "this project is offered no city yet"
    near = nearest(code, offered)
    if near is None:
        return ""
    if near.casefold() == code.casefold():
        return f'the case of a city code matters, write "{near}"'
    return f'did you mean "{near}"?'

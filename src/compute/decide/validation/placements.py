"""Where a Workload runs."""

from collections.abc import Callable, Iterator, Sequence

from compute.api.compute import Placement
from compute.decide.validation.cities import Choice, check_cities, city_warnings
from compute.decide.validation.grammar import Taken, check_label
from compute.decide.validation.scale import check_scale, scale_warnings
from kubekit.api.fields import FieldError, Path, required

# What a placement may choose from, by the placement's name.
ChoiceOf = Callable[[str], Choice]


def check_placements(
    path: Path, placements: Sequence[Placement], choice_of: ChoiceOf
) -> Iterator[FieldError]:
    if not placements:
        yield required(path, "name at least one placement")
    names = Taken()
    for position, placement in enumerate(placements):
        at = path.at(position)
        yield from check_label(at.child("name"), placement.name)
        yield from names.check(at.child("name"), placement.name)
        yield from check_cities(
            at.child("cityCodes"), placement.city_codes, choice_of(placement.name)
        )
        yield from check_scale(at.child("scaleSettings"), placement.scale_settings)


def placement_warnings(
    path: Path, placements: Sequence[Placement], choice_of: ChoiceOf
) -> Iterator[str]:
    for position, placement in enumerate(placements):
        at = path.at(position)
        yield from city_warnings(
            at.child("cityCodes"), placement.city_codes, choice_of(placement.name)
        )
        yield from scale_warnings(at.child("scaleSettings"), placement.scale_settings)

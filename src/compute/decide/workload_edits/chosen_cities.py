"""The cities that a user means, by code, by the name of a location or city, or by labels."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from compute.api import labels
from compute.api.cities import CITIES
from compute.api.networking import LocationBinding
from compute.decide.validation.grammar import nearest
from compute.decide.workload_edits.deploy_flags import FlagError
from kubekit.api.selectors.label_selectors import SelectorError, parse

CITY: str = "--city"
SELECTOR: str = "--location-selector"


def chosen(
    texts: Sequence[str], bindings: Iterable[LocationBinding] | None, kept: Collection[str] = ()
) -> tuple[str, ...]:
    """The codes of these cities, each once. ``kept`` are those that the Workload is in already.

    Where it is not known what the project may use, ``bindings`` is None, and a text is a code.
    """
    if bindings is None:
        return tuple(dict.fromkeys(text.upper() for text in texts))
    known = {name.casefold(): code for name, code in _names(tuple(bindings))}
    known |= {code.casefold(): code for code in kept}
    unknown = next((text for text in texts if text.casefold() not in known), None)
    if unknown is not None:
        raise FlagError(CITY, _problem(unknown, known))
    return tuple(dict.fromkeys(known[text.casefold()] for text in texts))


def selected(selector: str, bindings: Iterable[LocationBinding] | None) -> tuple[str, ...]:
    """The codes of the cities whose labels match."""
    if bindings is None:
        raise FlagError(SELECTOR, f"the cities of this project cannot be read; name them by {CITY}")
    try:
        matches = parse(selector).matches
    except SelectorError as error:
        raise FlagError(SELECTOR, str(error)) from error
    found = sorted({_code(b) for b in bindings if _code(b) and matches(b.spec.topology)})
    if not found:
        raise FlagError(SELECTOR, f'no city of this project matches "{selector}"')
    return tuple(found)


def _code(binding: LocationBinding) -> str:
    return binding.spec.topology.get(labels.TOPOLOGY_CITY_CODE, "")


def _names(bindings: Sequence[LocationBinding]) -> Iterator[tuple[str, str]]:
    """What each city may be called, its code last: it counts where two cities share a name."""
    coded = [binding for binding in bindings if _code(binding)]
    for binding in coded:
        names = (binding.spec.display_name, binding.metadata.name, binding.spec.location_ref.name)
        yield from ((name, _code(binding)) for name in names if name)
    yield from ((_code(binding), _code(binding)) for binding in coded)


def _problem(text: str, known: dict[str, str]) -> str:
    if not known:
        return "this project is offered no city yet"
    usable = f"this project, which can use {', '.join(sorted(set(known.values())))}"
    if text.upper() in CITIES:
        name = CITIES[text.upper()].name
        return f"{text.upper()} ({name}) is not offered to {usable}"
    near = nearest(text, known)
    hint = f"; did you mean {known[near]}?" if near else ""
    return f'there is no city "{text}" in {usable}{hint}'

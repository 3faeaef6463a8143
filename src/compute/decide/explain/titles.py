"""Names of objects in sentences, and next steps with these names filled into their commands."""

import re
from typing import Final

from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import joins
from kubekit.api.meta import Object

_TYPED: Final = re.compile(r"`[^`]*`")
_KINDS: Final = {"WorkloadDeployment": "Deployment"}


def path(of: Object) -> str:
    """The object as a command line takes it: ``instance/web-home-dfw-0``."""
    return f"{of.kind.lower()}/{of.metadata.name}"


def title(of: Object) -> str:
    """The object at the start of a sentence: ``Instance web-home-dfw-0 in DFW``."""
    named = f"{_KINDS.get(of.kind, of.kind)} {of.metadata.name}"
    city = _facts(of).get("CITY")
    return f"{named} in {city}" if city else named


def count(number: int, noun: str) -> str:
    """A number of things: ``1 instance``, ``2 instances``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fill_names(next_step: str, *to: Object) -> str:
    """The next step with the reader's own names in its commands, as far as they are known.

    Of several objects that know a name, the last one's is taken.
    """
    return fill_in(next_step, **{word: name for of in to for word, name in _facts(of).items()})


def fill_in(next_step: str, **known: str) -> str:
    """The next step with these words in its commands; a word without a value stays as it is."""

    def filled(typed: re.Match[str]) -> str:
        words = typed[0].strip("`").split(" ")
        return " ".join(known.get(word) or word for word in words)

    return _TYPED.sub(lambda typed: f"`{filled(typed)}`", next_step)


def _facts(of: Object) -> dict[str, str]:
    match of:
        case Instance():
            return {
                "NAME": joins.workload_name(of),
                "CITY": joins.city(of),
                "INSTANCE": of.metadata.name,
            }
        case WorkloadDeployment():
            return {"NAME": of.spec.workload_ref.name, "CITY": of.spec.city_code}
        case _:
            return {"NAME": of.metadata.name}

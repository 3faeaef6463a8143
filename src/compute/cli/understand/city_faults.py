"""Codes of cities that a user types: which one was probably meant, the project's own first."""

import asyncio
from collections.abc import Collection, Iterable

from compute.api.cities import CITIES
from compute.api.compute import WorkloadDeployment
from compute.api.networking import LocationBinding
from compute.cli.exits import Exit, Failure
from compute.cli.shell.groups import nearest
from compute.cli.shell.session import Session
from compute.decide import city_codes, city_use
from compute.views.reading import ProjectReader


def city_fault(word: str, offered: Collection[str]) -> str | None:
    """Why no city has this code; None if one does. ``offered`` are the cities of the project."""
    if word in offered or word in CITIES:
        return None
    near = nearest(word.upper(), offered)
    return f"no city has the code {word}; did you mean {near}?" if near else city_codes.fault(word)


async def refuse_unknown_cities(session: Session, codes: Iterable[str]) -> None:
    """Refuse a code of no city. In a city that is known, offered or used there may just be nothing."""
    strange = [code for code in codes if code not in CITIES]
    if not strange:
        return
    reader = ProjectReader(session.client, session.namespace)
    bindings, deployments = await asyncio.gather(
        reader.if_served(LocationBinding), reader.if_served(WorkloadDeployment)
    )
    used = {deployment.spec.city_code for deployment in deployments or ()}
    for code in strange:
        if fault := city_fault(code, city_use.offered(bindings or ()) | used):
            raise Failure(
                fault, Exit.NOT_FOUND, next_step="compute cities", reason="NotFound", city=code
            )

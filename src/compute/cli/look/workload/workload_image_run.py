"""What `compute workloads set image` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import click

from compute.api.compute import Workload
from compute.cli.change.rollout_follow import follow_rollout
from compute.cli.change.workload_change import Changed, change_workload, read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.tables import plain
from compute.cli.shell.groups import nearest
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.decide.workload_edits.image_settings import UnknownContainer, images, with_images
from compute.views.details.runtimes import ImageChange, image_changes


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    images: Mapping[str, str]
    detach: bool
    timeout: timedelta
    output: str


def run(
    name: str, assignments: Sequence[str], *, detach: bool, timeout: timedelta, output: str
) -> int:
    """Run it. The arguments are those of the command."""
    wanted = _Wanted(name, _parsed(assignments), detach, timeout, output)
    return in_project(lambda session: _set(session, wanted))


def _parsed(assignments: Sequence[str]) -> dict[str, str]:
    wanted: dict[str, str] = {}
    for text in assignments:
        container, equals, image = text.rpartition("=")
        if not image or (equals and not container):
            raise click.BadParameter(
                f"{text!r}: write an image, or CONTAINER=IMAGE", param_hint="'IMAGE'"
            )
        if wanted.setdefault(container, image) != image:
            raise click.BadParameter(
                f"{container or 'the container'} has two images", param_hint="'IMAGE'"
            )
    return wanted


async def _set(session: Session, wanted: _Wanted) -> Exit:
    await read_to_change(session, wanted.name)
    changed = await change_workload(session, wanted.name, partial(_changed, wanted))
    news = image_changes(images(changed.before), images(changed.after))
    _report(wanted, changed, news)
    follows = not wanted.detach and changed.before is not changed.after
    if follows and wanted.output != "name":
        return await follow_rollout(
            session, wanted.name, timeout=wanted.timeout, output=wanted.output
        )
    if follows:
        await follow_rollout(session, wanted.name, timeout=wanted.timeout, output="name")
    if wanted.output == "name":
        show_names("workload", [wanted.name])
    elif wanted.output != "table":
        show_data(news, wanted.output)
    return Exit.OK


def _changed(wanted: _Wanted, workload: Workload) -> Workload:
    try:
        return with_images(workload, wanted.images)
    except UnknownContainer as error:
        raise _unknown(wanted.name, error) from error


def _unknown(name: str, error: UnknownContainer) -> Failure:
    known = ", ".join(error.known)
    if not error.known:
        cause = f"workload {name} is a virtual machine: it has no containers"
    elif not error.container:
        cause = f"workload {name} has the containers {known}: name one, as CONTAINER=IMAGE"
    else:
        near = nearest(error.container, error.known)
        hint = f"did you mean {near}? " if near else ""
        cause = (
            f"workload {name} has no container {error.container}: {hint}its containers are {known}"
        )
    return Failure(cause, Exit.USAGE, next_step=f"compute workloads describe {name}")


def _report(wanted: _Wanted, changed: Changed, news: Sequence[ImageChange]) -> None:
    for each in news:
        notify(plain(f"Container {each.container}: {each.before} -> {each.after}"))
    if changed.before is changed.after:
        notify(f"Workload {wanted.name} has this image already; nothing was changed.")
    elif wanted.detach:
        notify(f"Follow the rollout with: {typed(f'compute rollout status {wanted.name}')}")

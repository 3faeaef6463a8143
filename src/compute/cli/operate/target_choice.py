"""Checks and writes the user's own choice of a target, and says what it means."""

import os
import re
from typing import Final

import msgspec

from compute.app.data_folder import KUBECONFIG, default_data
from compute.app.system_environment import system
from compute.cli.exits import Exit, Failure
from compute.cli.shell.groups import nearest
from compute.cli.shell.prompts import notify
from compute.cli.target import kubeconfigs, settings
from compute.cli.target.resolution import resolve
from compute.cli.target.settings import KEYS, LOCAL, UserSettings
from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import contexts

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VIEW: Final = "compute config view"


def choose(**changes: str) -> None:
    """Check the values, write them, and say what commands use now."""
    for key, value in changes.items():
        _check(key, value)
    before = settings.read()
    if changes.get("context", before.context) != before.context and before.project:
        changes = {"project": ""} | changes
        notify(f"The project {before.project} is no longer chosen: it belongs to another context.")
    after = msgspec.structs.replace(before, **changes)
    file = settings.write(after)
    chosen = ", ".join(f"{key} {getattr(after, key)}" for key in KEYS if getattr(after, key))
    notify(f"Wrote {file}: {chosen or 'nothing is chosen'}.")
    _explain(after)


def _explain(chosen: UserSettings) -> None:
    """What the choice means, with what is stronger; commands would say so only later."""
    try:
        target = resolve({}, system())
    except Failure as failure:
        notify(f"Commands cannot use it yet: {failure}")
        return
    notify(f"Commands use {target.server}, namespace {target.namespace}.")
    if chosen.context and target.rule != "settings":
        notify(f"The context does not decide here: {target.rule} goes before it.")
    if chosen.project and target.project != chosen.project:
        notify(f"The project does not decide here: {target.project_from} goes before it.")


def _check(key: str, value: str) -> None:
    if not value:
        return
    if key == "context":
        _check_context(value)
    elif not _LABEL.fullmatch(value):
        raise Failure(f"{value!r} is not the name of a {key}", Exit.USAGE, next_step=_VIEW)


def _check_context(name: str) -> None:
    """Refuse a context that no kubeconfig has: every later command would fail."""
    if name == LOCAL:
        return
    paths = kubeconfigs.files("", os.environ)
    if not paths and (world := default_data() / KUBECONFIG).is_file():
        paths = [world]
    if not paths:
        raise Failure(
            f"there is no context {name!r}: there is no kubeconfig", Exit.NOT_FOUND, next_step=_VIEW
        )
    try:
        known = contexts(paths)
    except Misconfigured as error:
        raise Failure(str(error), next_step=_VIEW) from error
    if name not in known:
        near = nearest(name, [*known, LOCAL])
        hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join([*known, LOCAL])}"
        files = os.pathsep.join(map(str, paths))
        raise Failure(
            f"there is no context {name!r} in {files}{hint}", Exit.NOT_FOUND, next_step=_VIEW
        )

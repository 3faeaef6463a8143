"""What `compute workloads edit` does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from compute.api.compute import Workload
from compute.cli.change.workload_change import WRITE, read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.look.edit_text import (
    Document,
    UnusableText,
    editable,
    read_text,
    text_of,
    with_comments,
    without_comments,
)
from compute.cli.look.editor import edit_file, editor_command, new_file
from compute.cli.output.tables import plain
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.decide.workload_edits.concurrent_changes import other_writer
from compute.decide.workload_edits.document_merge import merge_patch, merged
from kubekit.api import scheme
from kubekit.api.errors import BadRequest, Conflict, Invalid
from kubekit.client.options import PatchType, WriteOptions
from kubekit.client.transport import ResourceLocation

_STRICT: Final = WriteOptions(field_manager=WRITE.field_manager, field_validation="Strict")
_STRICT_PREFIX: Final = "strict decoding error: "  # what is before it says nothing to users
_ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True)
class _Edit:
    """A Workload as it was read, and the part of it that the user edits."""

    name: str
    read: Workload
    base: Document


def run(name: str) -> int:
    """Run it. The arguments are those of the command."""
    editor = editor_command()
    edit = in_project(lambda session: _started(session, name))
    file = new_file(name)
    try:
        saved = _edited(edit, editor, file)
    except Failure as failure:
        _keep(file, edit)
        raise failure from None
    file.unlink(missing_ok=True)
    if saved:
        notify(f"Workload {name} is changed.")
        notify(f"Follow the rollout with: {typed(f'compute rollout status {name}')}")
    else:
        notify("Nothing was changed.")
    return Exit.OK


async def _started(session: Session, name: str) -> _Edit:
    read = await read_to_change(session, name)
    return _Edit(name, read, editable(await _document(session, name)))


async def _document(session: Session, name: str) -> dict[str, Any]:
    return await session.client.raw.get(
        ResourceLocation(Workload.RESOURCE, session.namespace, name)
    )


def _edited(edit: _Edit, editor: list[str], file: Path) -> bool:
    """Open the editor until the text can be saved. False if nothing is to be changed."""
    text = text_of(edit.base)
    problems: tuple[str, ...] = ()
    while True:
        shown = with_comments(text, problems)
        file.write_text(shown)
        edit_file(editor, file)
        after = file.read_text(errors="replace")
        text = without_comments(after)
        if not text.strip() or text == text_of(edit.base):
            return False
        if problems and after == shown:
            raise Failure(
                f"the text is not valid: {problems[0]}", next_step=f"compute deploy -f {file}"
            )
        problems = _saved(edit, text)
        if not problems:
            return True


def _saved(edit: _Edit, text: str) -> tuple[str, ...]:
    """Save the text. The problems that keep it from being saved, none if it is."""
    try:
        mine = read_text(text, edit.base)
    except UnusableText as error:
        return error.problems
    return in_project(lambda session: _written(session, edit, mine))


async def _written(session: Session, edit: _Edit, mine: Document) -> tuple[str, ...]:
    location = ResourceLocation(Workload.RESOURCE, session.namespace, edit.name)
    for _ in range(_ATTEMPTS):
        await read_to_change(session, edit.name)
        document = await _document(session, edit.name)
        theirs = editable(document)
        both = merged(edit.base, mine, theirs)
        if both.conflicts or document["metadata"]["uid"] != edit.read.metadata.uid:
            raise _collision(edit, document, both.conflicts)
        patch = merge_patch(theirs, both.document)
        if not patch:
            return ()
        version = {"resourceVersion": document["metadata"]["resourceVersion"]}
        patch["metadata"] = _mapping(patch.get("metadata")) | version
        try:
            await session.client.raw.patch(location, PatchType.MERGE, patch, _STRICT)
        except Conflict:
            continue
        except (Invalid, BadRequest) as error:
            return _problems(error)
        return ()
    raise Failure(
        f"workload {edit.name} is being changed by another client all the time; nothing was changed",
        Exit.CONFLICT,
        next_step=f"compute workloads edit {edit.name}",
    )


def _problems(error: Invalid | BadRequest) -> tuple[str, ...]:
    causes = error.details.causes if error.details else ()
    named = (f"{c.field}: {c.message}" if c.field else c.message for c in causes)
    texts = [" ".join(plain(text).split()) for text in named] or [plain(error.message)]
    return tuple(text.rpartition(_STRICT_PREFIX)[2] for text in texts)


def _collision(edit: _Edit, document: dict[str, Any], fields: tuple[str, ...]) -> Failure:
    writer = other_writer(edit.read, scheme.decode_as(Workload, document))
    manager = writer.manager if writer else "another client"
    by = "another user of this command" if manager == WRITE.field_manager else manager
    if fields:
        cause = (
            f"workload {edit.name} was changed meanwhile by {by}, in the fields that you changed: "
        )
        cause += ", ".join(fields)
    else:
        cause = f"workload {edit.name} was deleted and created again meanwhile"
    return Failure(
        f"{cause}; nothing was written",
        Exit.CONFLICT,
        next_step=f"compute workloads edit {edit.name}",
    )


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _keep(file: Path, edit: _Edit) -> None:
    """Say where the text is, if there is any that would be lost."""
    text = without_comments(file.read_text(errors="replace")) if file.exists() else ""
    if text.strip() and text != text_of(edit.base):
        notify(f"Your text is kept in {file}")
    else:
        file.unlink(missing_ok=True)

"""`compute explain KIND/NAME`: why an object does not run, read from the project."""

from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session, in_project
from compute.cli.understand.explanation_texts import explanation_lines, show_explanation
from compute.decide.validation.grammar import nearest
from compute.views.explain.explanations import KINDS, Explainer
from compute.views.reading import ProjectReader
from kubekit.api.errors import NotFound


def explain_object(word: str, output: str) -> int:
    """Print why the object does not run. ``word`` is ``workload/web``, for example."""
    return in_project(lambda session: _object(session, word, output))


async def _object(session: Session, word: str, output: str) -> Exit:
    typed, _, name = word.partition("/")
    kind = KINDS.get(typed.casefold())
    if kind is None or not name:
        known = "workload/NAME, deployment/NAME or instance/NAME"
        raise Failure(
            f"{word} is no object that can be explained: write {known}",
            Exit.USAGE,
            next_step="compute explain",
        )
    explainer = Explainer(ProjectReader(session.client, session.namespace), session.now())
    try:
        view = await explainer.explain(kind, name)
    except NotFound as error:
        if error.details is None or not error.details.name:
            raise
        raise await _missing(session, explainer, kind, name) from error
    show_explanation(explanation_lines(view, session.now()), view, output)
    return Exit.OK


async def _missing(session: Session, explainer: Explainer, kind: str, name: str) -> Failure:
    """The failure for an object that does not exist, with the name that was probably meant."""
    near = nearest(name, await explainer.names(kind))
    hint = f"; did you mean {near}?" if near else ""
    return Failure(
        f"there is no {kind} {name} {session.target.inside}, namespace {session.namespace}{hint}",
        Exit.NOT_FOUND,
        next_step="compute instances" if kind == "instance" else "compute workloads",
        reason="NotFound",
    )

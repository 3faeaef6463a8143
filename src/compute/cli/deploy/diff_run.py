"""A comparison of what a deploy asks for with what there is."""

from compute.cli.deploy.deploy_inputs import DeployInputs
from compute.cli.deploy.plan_text import plan_text
from compute.cli.deploy.planning import plan_of
from compute.cli.exits import Exit
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.cli.streams import show


async def run_diff(session: Session, inputs: DeployInputs, output: str, *, exit_code: bool) -> int:
    """Print the plan of a deploy."""
    plan = await plan_of(session, inputs)
    view = plan.view
    if output != "table":
        show_data(view, output)
    elif view.differs:
        show(plan_text(view, session.target.where))
    else:
        show("No changes.")
    if output == "table":
        for note in plan.notes:
            notify(f"\n{plain(note)}")
    return Exit.DIFFERS if view.differs and exit_code else Exit.OK

"""What `compute instances delete` does."""

import os
from datetime import timedelta

from compute.api.compute import Instance
from compute.cli.change.instance_replacement import (
    check_instances,
    end_of_replacement,
    request_replacement,
)
from compute.cli.change.waiting import WaitChoice
from compute.cli.change.workload_change import read_to_change
from compute.cli.exits import Exit, Failure
from compute.cli.look.instance_evidence import read_instance
from compute.cli.output.formats import show_names
from compute.cli.shell.prompts import ASSUME_YES, can_ask, confirmed, notify
from compute.cli.shell.session import Session, in_project
from compute.decide import joins


def run(name: str, *, assume_yes: bool, wait: bool, timeout: timedelta, output: str) -> int:
    """Run it. The arguments are those of the command."""
    choice = WaitChoice(wait, timeout, output)
    return in_project(lambda session: _delete(session, name, choice, assume_yes=assume_yes))


async def _delete(session: Session, name: str, choice: WaitChoice, *, assume_yes: bool) -> Exit:
    instance = await read_instance(session, name)
    owner = joins.workload_name(instance)
    if not owner:
        raise Failure(f"instance {name} belongs to no workload, so nothing would replace it")
    workload = await read_to_change(session, owner)
    await check_instances(session, workload, [name])
    if not _agreed(instance, assume_yes=assume_yes):
        notify("Nothing was changed.")
        return Exit.OK
    changed = await request_replacement(session, owner, [name])
    notify(f"Instance {name} is being replaced.")
    code = await end_of_replacement(session, changed, [name], choice)
    if choice.output == "name":
        show_names("instance", [name])
    return code


def _agreed(instance: Instance, *, assume_yes: bool) -> bool:
    name = instance.metadata.name
    if assume_yes or os.environ.get(ASSUME_YES) == "1":
        return True
    if not can_ask():
        raise Failure(
            f"replacing instance {name} stops it; without a terminal, confirm with -y",
            Exit.USAGE,
            next_step=f"compute instances delete {name} -y",
        )
    workload, city = joins.workload_name(instance), joins.city(instance)
    named = f"instance {name} of {workload} in {city}"
    return confirmed(f"Stop {named}, and start a new one in its place?", default=True)

"""`compute rollout`: follow, pause, restart and undo rollouts. `rollout NAME` is `rollout status NAME`."""

from typing import Final

from compute.cli.shell.groups import Entry, LazyGroup

_ENTRIES: Final = {
    "status": Entry(
        "compute.cli.change.rollouts.rollout_status",
        "Follow a rollout until it is done, or cannot be.",
    ),
    "history": Entry(
        "compute.cli.change.rollouts.rollout_history", "List the revisions of a workload."
    ),
    "undo": Entry("compute.cli.change.rollouts.rollout_undo", "Go back to an earlier revision."),
    "restart": Entry(
        "compute.cli.change.rollouts.rollout_restart", "Replace every instance, one at a time."
    ),
    "pause": Entry(
        "compute.cli.change.rollouts.rollout_pause", "Hold back changes of the template."
    ),
    "resume": Entry(
        "compute.cli.change.rollouts.rollout_resume",
        "Continue a paused rollout.",
        aliases=("promote",),
    ),
}

command: Final = LazyGroup(
    "rollout",
    _ENTRIES,
    default="status",
    default_takes_words=True,
    help="Follow, pause, restart and undo rollouts. `rollout NAME` is `rollout status NAME`.",
)

"""Every command: its module, its purpose in a line, and the heading of the help that lists it."""

from typing import Final

from compute.cli.shell.groups import Entry

DEPLOY: Final = "Deploy"
LOOK: Final = "Look"
CHANGE: Final = "Change"
UNDERSTAND: Final = "Understand"
LOCAL: Final = "Platform on this machine"
OPERATE: Final = "Operate"

COMMANDS: Final = {
    "deploy": Entry(
        "compute.cli.deploy.deploy", "Create or update workloads, and wait until they run.", DEPLOY
    ),
    "diff": Entry("compute.cli.deploy.diff", "Show what a deploy would change.", DEPLOY),
    "plan": Entry(
        "compute.cli.deploy.plan",
        "Show what Workload manifests would create, without a server.",
        DEPLOY,
    ),
    "destroy": Entry(
        "compute.cli.deploy.deletion.destroy",
        "Delete workloads in all cities.",
        DEPLOY,
        aliases=("delete", "rm"),
    ),
    "status": Entry(
        "compute.cli.look.status", "Show which city is stuck, why, and what to type next.", LOOK
    ),
    "workloads": Entry(
        "compute.cli.look.workloads", "List, describe and edit workloads.", LOOK, aliases=("wl",)
    ),
    "instances": Entry(
        "compute.cli.look.instances",
        "List, describe and replace instances.",
        LOOK,
        aliases=("inst",),
    ),
    "events": Entry("compute.cli.look.events", "Show what happened, in all cities.", LOOK),
    "wait": Entry("compute.cli.look.wait", "Wait until workloads are ready, or gone.", LOOK),
    "top": Entry("compute.cli.look.top", "Watch workloads, cities and instances live.", LOOK),
    "scale": Entry("compute.cli.change.scale", "Change how many instances run.", CHANGE),
    "rollout": Entry(
        "compute.cli.change.rollout", "Follow, pause, restart and undo rollouts.", CHANGE
    ),
    "restart": Entry(
        "compute.cli.change.rollouts.rollout_restart",
        "Replace every instance, one at a time.",
        CHANGE,
    ),
    "rollback": Entry(
        "compute.cli.change.rollouts.rollout_undo", "Go back to an earlier revision.", CHANGE
    ),
    "networks": Entry("compute.cli.change.networks", "List and create networks.", CHANGE),
    "secrets": Entry("compute.cli.change.stores.secrets", "Set the values of Secrets.", CHANGE),
    "configmaps": Entry(
        "compute.cli.change.stores.configmaps", "Set the values of ConfigMaps.", CHANGE
    ),
    "explain": Entry(
        "compute.cli.understand.explain",
        "Explain a reason, a condition, a field, an object or the exit codes.",
        UNDERSTAND,
    ),
    "doctor": Entry(
        "compute.cli.understand.doctor", "Check everything that can be wrong.", UNDERSTAND
    ),
    "quota": Entry("compute.cli.understand.quota", "Show quota, and what uses it.", UNDERSTAND),
    "access": Entry(
        "compute.cli.understand.access", "Show or request access to compute.", UNDERSTAND
    ),
    "cities": Entry(
        "compute.cli.understand.cities",
        "List the cities that the project can use.",
        UNDERSTAND,
        aliases=("locations",),
    ),
    "instance-types": Entry(
        "compute.cli.understand.instance_types", "List the sizes of instances.", UNDERSTAND
    ),
    "up": Entry("compute.cli.local.up", "Start the whole platform on this machine.", LOCAL),
    "down": Entry("compute.cli.local.down", "Stop the platform on this machine.", LOCAL),
    "reset": Entry(
        "compute.cli.local.reset", "Delete all data of the platform on this machine.", LOCAL
    ),
    "cell": Entry(
        "compute.cli.local.cell",
        "Cut cells off from all other planes, and connect them again.",
        LOCAL,
    ),
    "plane": Entry(
        "compute.cli.operate.plane_group",
        "Serve a Kubernetes API from a folder; its users and keys.",
        OPERATE,
    ),
    "manager": Entry(
        "compute.cli.operate.manager",
        "Run controllers on Kubernetes clusters, with Karmada as the hub.",
        OPERATE,
    ),
    "config": Entry(
        "compute.cli.operate.config", "Show and choose the server and the project.", OPERATE
    ),
    "completion": Entry(
        "compute.cli.operate.completion", "Print the completion script of a shell.", OPERATE
    ),
    "version": Entry(
        "compute.cli.operate.version", "Show the versions of this command and the server.", OPERATE
    ),
    "plane-users": Entry(
        "compute.cli.operate.plane_users", "The old name of `plane users`.", OPERATE, hidden=True
    ),
    "plane-keys": Entry(
        "compute.cli.operate.plane_keys", "The old name of `plane keys`.", OPERATE, hidden=True
    ),
}

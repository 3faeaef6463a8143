"""What the roles of people allow, as a plane decides it."""

from compute.api import cluster_roles
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster
from compute.api.karmada_work import Work
from compute.api.networking import LocationBinding, Network, SubnetClaim
from compute.api.quota import AllowanceBucket, ResourceClaim, ResourceGrant
from compute.api.services import ServiceEntitlement
from compute.providers import settings as machines
from compute.services.network import faults
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import Event
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, RoleBinding
from kubekit.plane.users import User
from tests.support.kubekit.access_builders import SPACE, scenario, user

SUMS = {"compute-viewer": "view", "compute-editor": "edit", "compute-admin": "admin"}
VERBS = (
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
    "use", "bind", "escalate", "impersonate",
)  # fmt: skip
SEEN = "get list watch"
CHANGED = "create update patch delete deletecollection"
ALL = f"{SEEN} {CHANGED}"
# What a viewer may, what an editor may beyond that, what an admin may beyond that.
OF_PROJECTS = [
    (Workload, SEEN, CHANGED, ""),
    (WorkloadDeployment, SEEN, "", ""),
    (Instance, SEEN, "", ""),
    (Network, SEEN, f"{CHANGED} use", ""),
    (LocationBinding, SEEN, "", ""),
    (SubnetClaim, SEEN, "", ""),
    (ResourceClaim, SEEN, "", ""),
    (AllowanceBucket, SEEN, "", ""),
    (ResourceGrant, "", "", ""),
    (ServiceEntitlement, SEEN, "", "create delete"),
    (ConfigMap, SEEN, CHANGED, ""),
    (Secret, "", ALL, ""),
    (Event, SEEN, "", ""),
    (Namespace, SEEN, "", ""),
    (ServiceAccount, SEEN, "", CHANGED),
    (RoleBinding, "", "", ALL),
    (ClusterRole, "", "", ""),
    (ClusterRoleBinding, "", "", ""),
    (CustomResourceDefinition, SEEN, "", ""),
]
OF_OPERATORS = [
    (MemberCluster, ALL),
    (Work, f"{SEEN} delete deletecollection"),
    (Instance, f"{SEEN} delete deletecollection"),
    (SubnetClaim, SEEN),
    (ConfigMap, f"{SEEN} create"),
    (Secret, ""),
    (ServiceAccount, ""),
    (RoleBinding, ""),
    (Workload, SEEN),
]


def verbs(world, role, kind, **more):
    """What the user of this role may do with a kind, everywhere."""
    resource = kind.RESOURCE
    asked = {"group": resource.group, "resource": resource.plural} | more
    return {verb for verb in VERBS if world.may(User(role), verb, **asked)}


async def bound(world):
    """A plane in which each role is given to the user of its name."""
    await world.keeper.start(cluster_roles.ALL)
    await world.keeper.worker.rest()
    for role in (*SUMS, "compute-operator"):
        await world.bind(role, f"ClusterRole/{role}", user(role), namespace="")


@scenario
async def test_each_role_of_a_project_holds_the_smaller_one_and_its_own(world):
    """Only the system writes what it makes, and only the platform approves."""
    await bound(world)

    for kind, *columns in OF_PROJECTS:
        held = set()
        for role, more in zip(SUMS, columns, strict=True):
            held |= set(more.split())
            assert verbs(world, role, kind) == held, (role, kind)


@scenario
async def test_an_operator_sees_what_runs_and_has_it_made_again(world):
    """Secrets and rights are nothing to operate."""
    await bound(world)

    found = {kind: verbs(world, "compute-operator", kind) for kind, _ in OF_OPERATORS}
    assert found == {kind: set(held.split()) for kind, held in OF_OPERATORS}


@scenario
async def test_an_operator_changes_the_settings_and_no_other_configmap(world):
    """The names are those that provider and networks read."""
    await bound(world)

    for name in (machines.NAME, faults.NAME):
        held = verbs(world, "compute-operator", ConfigMap, name=name)
        assert held == {*SEEN.split(), "create", "update", "patch", "delete"}
    assert "update" not in verbs(world, "compute-operator", ConfigMap, name="other")
    assert world.may(User("compute-operator"), "get", path="/metrics")


@scenario
async def test_kubernetes_own_roles_include_ours(world):
    """A binding of edit deploys: what compute-editor holds is part of it."""
    await bound(world)

    for role, whole in SUMS.items():
        await world.bind(whole, f"ClusterRole/{whole}", user(whole), namespace="")
        for kind, *_ in OF_PROJECTS:
            assert verbs(world, whole, kind) >= verbs(world, role, kind), (whole, kind)


@scenario
async def test_status_is_read_with_its_object_and_written_by_no_role(world):
    """What the system reports is not for people to change."""
    await bound(world)

    for role in SUMS:
        assert verbs(world, role, Workload, subresource="status") == set(SEEN.split())


@scenario
async def test_a_role_can_be_bound_in_one_namespace(world):
    """Then it holds there alone."""
    await world.keeper.start(cluster_roles.OF_PROJECTS)
    await world.bind("one", "ClusterRole/compute-editor", user("one"), namespace=SPACE)

    assert "create" in verbs(world, "one", Workload, namespace=SPACE)
    assert verbs(world, "one", Workload, namespace="attic") == set()

"""The kinds that scripts are about, with what their objects may hold, good and bad."""

from dataclasses import dataclass
from random import Random

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import Network
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ServiceAccount
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kubekit.api.resource import Resource
from tests.contract import kinds
from tests.differential import contents
from tests.differential.contents import Document, Fields
from tests.support.compute import builders

_LABEL = "differential"  # of every object without a namespace: what a script may list and delete


@dataclass(frozen=True, slots=True)
class Sample:
    """One kind: fields that fit, and fields of its own that do not."""

    resource: Resource
    fields: Fields
    wrong: Fields
    status: Fields | None = None
    selectable: tuple[str, ...] = ()

    @property
    def collection(self) -> str:
        resource = self.resource
        root = f"/apis/{resource.group}" if resource.group else "/api"
        space = "/namespaces/{{ns}}" if resource.namespaced else ""
        return f"{root}/{resource.version}{space}/{resource.plural}"

    @property
    def fills_in(self) -> bool:
        """Whether a real server stores some defaults only with the first change after the birth."""
        return self.is_custom and self.status is not None and self.resource.kind != "Widget"

    @property
    def head(self) -> Document:
        return {"apiVersion": self.resource.api_version, "kind": self.resource.kind}

    @property
    def is_custom(self) -> bool:
        return "." in self.resource.group and not self.resource.group.endswith(".k8s.io")

    def name(self, chance: Random) -> str:
        """One of few names, so that requests of a script meet."""
        name = chance.choice("aab")
        return name if self.resource.namespaced else "{{ns}}-" + name

    def metadata(self, chance: Random, name: str) -> Document:
        metadata: Document = {"name": name}
        if self.resource.namespaced and chance.random() < 0.3:
            metadata["namespace"] = "{{ns}}"
        labels = contents.picked(chance, {"app": "web", "tier": chance.choice(("front", "back"))})
        if not self.resource.namespaced:
            labels[_LABEL] = "{{ns}}"
        metadata |= {"labels": labels} if labels else {}
        if chance.random() < 0.3:
            metadata["annotations"] = {"example.test/note": chance.choice(("x", "", "a b"))}
        if chance.random() < 0.15 and self.resource.kind != "Namespace":
            metadata["finalizers"] = ["example.test/hold"]
        return metadata

    def document(self, chance: Random, name: str) -> Document:
        """A document that a server takes."""
        return self.head | {"metadata": self.metadata(chance, name)} | self.fields(chance)

    def own(self) -> tuple[tuple[str, str], ...]:
        """The selector without which a collection would hold what is not the script's."""
        return () if self.resource.namespaced else (("labelSelector", f"{_LABEL}={{{{ns}}}}"),)


SAMPLES: dict[str, Sample] = {
    sample.resource.plural: sample
    for sample in (
        Sample(kinds.CONFIG_MAP, contents.config_map, contents.wrong_config_map),
        Sample(kinds.SECRET, contents.secret, contents.wrong_secret, selectable=("type",)),
        Sample(
            kinds.NAMESPACE,
            contents.namespace,
            contents.wrong_namespace,
            selectable=("status.phase",),
        ),
        Sample(Lease.RESOURCE, contents.lease, contents.wrong_lease),
        Sample(ServiceAccount.RESOURCE, contents.service_account, contents.wrong_service_account),
        Sample(Role.RESOURCE, contents.role, contents.wrong_role),
        Sample(ClusterRole.RESOURCE, contents.cluster_role, contents.wrong_role),
        Sample(RoleBinding.RESOURCE, contents.binding(cluster=False), contents.wrong_binding),
        Sample(ClusterRoleBinding.RESOURCE, contents.binding(cluster=True), contents.wrong_binding),
        Sample(
            kinds.WIDGET,
            contents.widget,
            contents.wrong_widget,
            contents.widget_status,
            selectable=("spec.colour", "status.phase"),
        ),
        Sample(kinds.GADGET, contents.gadget, contents.wrong_gadget),
        Sample(
            Workload.RESOURCE, contents.workload, contents.wrong_compute, contents.condition_status
        ),
        Sample(
            WorkloadDeployment.RESOURCE,
            lambda _: contents.of(builders.deployment(1), "spec"),
            contents.wrong_compute,
            contents.condition_status,
        ),
        Sample(
            Instance.RESOURCE,
            lambda _: contents.of(builders.instance(0), "spec"),
            contents.wrong_compute,
            contents.condition_status,
        ),
        Sample(
            Network.RESOURCE, contents.network, contents.wrong_network, contents.condition_status
        ),
    )
}

import pytest

from compute.api import COMPUTE_KINDS
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.quota import ResourceClaim
from kubekit.api.crd_generation import crd
from kubekit.api.meta import Object
from kubekit.api.resource import Resource, Scale
from tests.support.kubekit.schema_nodes import at, no_docs, nodes, schema_of_kind

COUNTERS = [
    "currentReplicas",
    "desiredReplicas",
    "readyReplicas",
    "replicas",
    "updatedReplicas",
]
TEMPLATE = "spec.template.spec"
RUNTIME = f"{TEMPLATE}.runtime"
CONTAINER = f"{RUNTIME}.sandbox.containers[]"
REFS = ("configMapKeyRef", "fieldRef", "resourceFieldRef", "secretKeyRef")


def version(kind):
    return crd(kind, no_docs)["spec"]["versions"][0]


def columns(kind):
    """Each column as one word: its name, ``*`` when it is wide, and where it looks."""
    return [
        f"{column['name']}{'*' if column.get('priority') else ''}={column['jsonPath']}"
        for column in version(kind)["additionalPrinterColumns"]
    ]


def condition(kind, part):
    return f'.status.conditions[?(@.type=="{kind}")].{part}'


class Session(Object, frozen=True, kw_only=True):
    RESOURCE = Resource(
        group="example.test",
        version="v1",
        kind="Session",
        plural="sessions",
        namespaced=False,
        short_names=("ses",),
        categories=("all",),
        scale=Scale(),
        selectable_fields=(".spec.user",),
    )


def test_a_crd_names_its_kind_and_leaves_out_what_is_empty():
    """The document holds the kind's names, scope and version, and no empty field."""
    got = crd(Workload, no_docs)

    assert list(got) == ["apiVersion", "kind", "metadata", "spec"]
    assert got["metadata"] == {
        "name": "workloads.compute.datumapis.com",
        "annotations": {"discovery.miloapis.com/parent-contexts": "Project"},
    }
    assert got["spec"]["names"] == {
        "kind": "Workload",
        "listKind": "WorkloadList",
        "plural": "workloads",
        "singular": "workload",
        "shortNames": ["wl"],
    }
    assert got["spec"]["scope"] == "Namespaced"


@pytest.mark.parametrize(("kind", "short"), [(WorkloadDeployment, "wd"), (Instance, "inst")])
def test_our_kinds_have_short_names(kind, short):
    """Each of our kinds can be typed in a few letters."""
    assert crd(kind, no_docs)["spec"]["names"]["shortNames"] == [short]


def test_everything_a_resource_can_say_is_in_its_crd():
    """Short names, categories, scope, scale and selectable fields appear where they are set."""
    got = crd(Session, no_docs)["spec"]

    assert got["scope"] == "Cluster"
    assert got["names"]["shortNames"] == ["ses"]
    assert got["names"]["categories"] == ["all"]
    assert got["versions"][0]["selectableFields"] == [{"jsonPath": ".spec.user"}]
    assert got["versions"][0]["subresources"] == {
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }
    }


@pytest.mark.parametrize("kind", COMPUTE_KINDS, ids=lambda kind: kind.__name__)
def test_our_kinds_have_one_version_with_a_status(kind):
    """One version is served and stored, and its status is a subresource."""
    versions = crd(kind, no_docs)["spec"]["versions"]

    assert [(v["name"], v["served"], v["storage"]) for v in versions] == [("v1alpha", True, True)]
    assert versions[0]["subresources"] == {"status": {}}


def test_claims_can_be_selected_by_what_they_are_for():
    """A kind with selectable fields names them in its CRD."""
    paths = [field["jsonPath"] for field in version(ResourceClaim)["selectableFields"]]

    assert ".spec.consumerRef.name" in paths


def test_columns_of_a_workload():
    """`kubectl get workloads` shows availability and the counters."""
    assert columns(Workload) == [
        "Age=.metadata.creationTimestamp",
        f"Available={condition('Available', 'status')}",
        f"Reason={condition('Available', 'reason')}",
        "Deployments=.status.deployments",
        "Replicas=.status.replicas",
        "Ready=.status.readyReplicas",
        "Desired=.status.desiredReplicas",
        "Up-to-date=.status.updatedReplicas",
        f"Message*={condition('Available', 'message')}",
    ]


def test_columns_of_a_deployment():
    """`kubectl get wd` shows the city; location and message only when asked for more."""
    assert columns(WorkloadDeployment) == [
        "Age=.metadata.creationTimestamp",
        "City=.spec.cityCode",
        f"Available={condition('Available', 'status')}",
        f"Reason={condition('Available', 'reason')}",
        "Replicas=.status.replicas",
        "Ready=.status.readyReplicas",
        "Desired=.status.desiredReplicas",
        "Up-to-date=.status.updatedReplicas",
        "Location Name*=.status.location.name",
        f"Message*={condition('Available', 'message')}",
    ]


def test_columns_of_an_instance():
    """`kubectl get inst` shows city, readiness and address; what is often empty when asked."""
    assert columns(Instance) == [
        "Age=.metadata.creationTimestamp",
        r"City=.metadata.labels.compute\.datumapis\.com/city-code",
        f"Ready={condition('Ready', 'status')}",
        f"Reason={condition('Ready', 'reason')}",
        "Network IP=.status.networkInterfaces[0].assignments.networkIP",
        "External IP*=.status.networkInterfaces[0].assignments.externalIP",
        f"Message*={condition('Ready', 'message')}",
        f"Quota*={condition('QuotaGranted', 'reason')}",
    ]


@pytest.mark.parametrize("kind", COMPUTE_KINDS, ids=lambda kind: kind.__name__)
def test_only_the_age_is_not_text(kind):
    """Every column is a string, so that absent numbers show as nothing; the age is a date."""
    assert [column["type"] for column in version(kind)["additionalPrinterColumns"]] == [
        "date",
        *["string"] * (len(columns(kind)) - 1),
    ]


@pytest.mark.parametrize(
    ("path", "required"),
    [
        ("spec", ["placements", "template"]),
        ("spec.placements[]", ["cityCodes", "name", "scaleSettings"]),
        ("spec.placements[].scaleSettings", ["instanceManagementPolicy", "minReplicas"]),
        ("spec.placements[].scaleSettings.metrics[].resource", ["name", "target"]),
        ("spec.template", ["spec"]),
        (TEMPLATE, ["networkInterfaces", "runtime"]),
        (RUNTIME, ["resources"]),
        (f"{RUNTIME}.resources", ["instanceType"]),
        (f"{RUNTIME}.sandbox", ["containers"]),
        (f"{RUNTIME}.sandbox.imagePullSecrets[]", ["name"]),
        (CONTAINER, ["image", "name"]),
        (f"{CONTAINER}.env[]", ["name"]),
        (f"{CONTAINER}.env[].valueFrom.configMapKeyRef", ["key"]),
        (f"{CONTAINER}.env[].valueFrom.secretKeyRef", ["key"]),
        (f"{CONTAINER}.env[].valueFrom.fieldRef", ["fieldPath"]),
        (f"{CONTAINER}.env[].valueFrom.resourceFieldRef", ["resource"]),
        (f"{CONTAINER}.ports[]", ["name", "port"]),
        (f"{CONTAINER}.volumeAttachments[]", ["name"]),
        (f"{RUNTIME}.virtualMachine", ["volumeAttachments"]),
        (f"{TEMPLATE}.networkInterfaces[]", ["network"]),
        (f"{TEMPLATE}.networkInterfaces[].network", ["name"]),
        (f"{TEMPLATE}.networkInterfaces[].networkPolicy.ingress[].from[].ipBlock", ["cidr"]),
        (f"{TEMPLATE}.volumes[]", ["name"]),
        (f"{TEMPLATE}.volumes[].disk", ["template"]),
        (f"{TEMPLATE}.volumes[].disk.template", ["spec"]),
        (f"{TEMPLATE}.volumes[].disk.template.spec.populator.image", ["name"]),
        (f"{TEMPLATE}.volumes[].disk.template.spec.populator.filesystem", ["type"]),
        (f"{TEMPLATE}.volumes[].configMap", []),
        (f"{TEMPLATE}.volumes[].configMap.items[]", ["key", "path"]),
        (f"{TEMPLATE}.volumes[].secret", []),
        (f"{TEMPLATE}.location", ["name", "namespace"]),
        (f"{TEMPLATE}.controller", ["templateHash"]),
        ("status", sorted([*COUNTERS, "deployments"])),
        ("status.placements[]", sorted([*COUNTERS, "name"])),
        (
            "status.conditions[]",
            ["lastTransitionTime", "message", "reason", "status", "type"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_workload_requires(path, required):
    """The schema asks for exactly the fields that the original asks for."""
    assert at(schema_of_kind(Workload), path).get("required", []) == required


@pytest.mark.parametrize(
    ("kind", "required"),
    [(Workload, ["spec"]), (WorkloadDeployment, []), (Instance, [])],
    ids=["Workload", "WorkloadDeployment", "Instance"],
)
def test_what_a_kind_requires(kind, required):
    """Only a Workload cannot be without a spec."""
    assert schema_of_kind(kind).get("required", []) == required


@pytest.mark.parametrize(
    ("kind", "path", "required"),
    [
        (
            WorkloadDeployment,
            "spec",
            ["cityCode", "placementName", "scaleSettings", "template", "workloadRef"],
        ),
        (WorkloadDeployment, "spec.workloadRef", ["name", "uid"]),
        (WorkloadDeployment, "status", COUNTERS),
        (WorkloadDeployment, "status.location", ["name", "namespace"]),
        (Instance, "spec", ["networkInterfaces", "runtime"]),
        (Instance, "status", []),
        (Instance, "status.controller", ["observedTemplateHash"]),
        (Instance, "status.networkInterfaces[].assignments", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_deployments_and_instances_require(kind, path, required):
    """The schema asks for exactly the fields that the original asks for."""
    assert at(schema_of_kind(kind), path).get("required", []) == required


def test_which_lists_are_maps():
    """Lists of named things are maps by name; placements, interfaces and conditions are plain."""
    keyed = {
        path: node["x-kubernetes-list-map-keys"]
        for path, node in nodes(schema_of_kind(Workload))
        if "x-kubernetes-list-map-keys" in node
    }

    assert keyed == {
        f"{RUNTIME}.sandbox.containers": ["name"],
        f"{CONTAINER}.env": ["name"],
        f"{CONTAINER}.ports": ["name"],
        f"{RUNTIME}.virtualMachine.ports": ["name"],
        f"{TEMPLATE}.controller.schedulingGates": ["name"],
        f"{TEMPLATE}.volumes": ["name"],
    }


def test_which_lists_are_atomic():
    """Lists that one writer owns whole are those of the network policy and of files."""
    schema = schema_of_kind(Workload)
    ingress = f"{TEMPLATE}.networkInterfaces[].networkPolicy.ingress[]"

    assert {path for path, n in nodes(schema) if n.get("x-kubernetes-list-type") == "atomic"} == {
        f"{ingress}.from",
        f"{ingress}.from[].ipBlock.except",
        f"{ingress}.ports",
        f"{TEMPLATE}.volumes[].configMap.items",
        f"{TEMPLATE}.volumes[].secret.items",
    }


def test_which_maps_are_atomic():
    """The four references of a variable and the ConfigMap of a volume are owned whole."""
    schema = schema_of_kind(Workload)

    assert {path for path, n in nodes(schema) if n.get("x-kubernetes-map-type") == "atomic"} == {
        f"{TEMPLATE}.volumes[].configMap",
        *(f"{CONTAINER}.env[].valueFrom.{ref}" for ref in REFS),
    }


def test_which_lists_may_not_be_empty():
    """At least one placement, container, interface, and volume of a machine."""
    schema = schema_of_kind(Workload)

    assert {path for path, node in nodes(schema) if node.get("minItems") == 1} == {
        "spec.placements",
        f"{TEMPLATE}.networkInterfaces",
        f"{RUNTIME}.sandbox.containers",
        f"{RUNTIME}.virtualMachine.volumeAttachments",
    }


def test_the_defaults_of_a_workload():
    """The schema fills in a policy, a class of disk and empty names, and no status."""
    defaults = {
        path: node["default"] for path, node in nodes(schema_of_kind(Workload)) if "default" in node
    }

    assert defaults == {
        "spec.placements[].scaleSettings.instanceManagementPolicy": "OrderedReady",
        f"{CONTAINER}.env[].valueFrom.configMapKeyRef.name": "",
        f"{CONTAINER}.env[].valueFrom.secretKeyRef.name": "",
        f"{TEMPLATE}.volumes[].configMap.name": "",
        f"{TEMPLATE}.volumes[].disk.template.spec.type": "pd-standard",
    }


def test_a_new_instance_has_unknown_conditions():
    """The default status of an Instance has four unknown conditions since 1970."""
    unheard = {"status": "Unknown", "lastTransitionTime": "1970-01-01T00:00:00Z"}
    waiting = {"reason": "Pending", "message": "Waiting for controller"} | unheard
    evaluating = {"reason": "PendingEvaluation", "message": "Waiting for quota evaluation"}

    assert at(schema_of_kind(Instance), "status")["default"] == {
        "conditions": [
            {"type": "Programmed"} | waiting,
            {"type": "Available"} | waiting,
            {"type": "Ready"} | waiting,
            {"type": "QuotaGranted"} | evaluating | unheard,
        ]
    }


@pytest.mark.parametrize(
    "path", ["spec.template.metadata", f"{TEMPLATE}.volumes[].disk.template.metadata"]
)
def test_a_template_may_set_five_fields_of_the_metadata(path):
    """Embedded metadata has a full schema, so that everything else is pruned."""
    assert list(at(schema_of_kind(Workload), path)["properties"]) == [
        "annotations",
        "finalizers",
        "labels",
        "name",
        "namespace",
    ]


def test_the_bounds_of_a_workload():
    """Ports, the file system and the numbers' sizes are all that the schema bounds."""
    schema = schema_of_kind(Workload)
    words = ("enum", "format", "maximum", "minimum")

    def bounds(path):
        return {word: value for word, value in at(schema, path).items() if word in words}

    assert bounds(f"{CONTAINER}.ports[].port") == {
        "format": "int32",
        "minimum": 1,
        "maximum": 65535,
    }
    assert bounds(f"{CONTAINER}.ports[].protocol") == {}
    assert bounds("spec.placements[].scaleSettings.minReplicas") == {"format": "int32"}
    assert bounds("spec.placements[].scaleSettings.instanceManagementPolicy") == {}
    assert bounds(f"{TEMPLATE}.volumes[].disk.template.spec.populator.filesystem.type") == {
        "enum": ["ext4"]
    }
    assert bounds("status.observedGeneration") == {"format": "int64"}

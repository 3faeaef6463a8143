"""Real kubectl against a plane, through the kubeconfig that the command wrote."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import needs_kubectl
from tests.support.kubekit.kites import config_map, event, kite

ROOT = Path(__file__).parents[2]
READY = '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Up"}]}}'

needs_kubectl()

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def uid_of(kubectl, resource):
    return kubectl("get", resource, "-o", "jsonpath={.metadata.uid}")


def owner_and_dependent(kubectl):
    """Two config maps, `mother` and `child`, the second owned by the first."""
    kubectl("create", "-f", "-", text=config_map("mother"))
    owner = ("mother", uid_of(kubectl, "configmap/mother"))
    kubectl("create", "-f", "-", text=config_map("child", owner))


def test_the_kinds_are_found(kubectl):
    """api-resources lists built-in kinds, ours and those of the given definitions."""
    listed = [line.split() for line in kubectl("api-resources", "--no-headers").splitlines()]

    assert ["kites", "kt", "example.test/v1", "true", "Kite"] in listed
    assert ["namespaces", "ns", "v1", "false", "Namespace"] in listed
    assert ["workloads", "wl", "compute.datumapis.com/v1alpha", "true", "Workload"] in listed


def test_versions(kubectl):
    """api-versions and version answer without complaint."""
    assert {"v1", "example.test/v1"} <= set(kubectl("api-versions").split())
    assert "Server Version: v1." in kubectl("version")


def test_apply(kubectl):
    """Applying makes, applying the same does nothing, applying another changes what differs."""
    made = kubectl("apply", "-f", "-", text=kite("box"))
    again = kubectl("apply", "-f", "-", text=kite("box"))
    changed = kubectl("apply", "-f", "-", text=kite("box", colour="blue"))

    assert [made, again, changed] == [
        "kite.example.test/box created\n",
        "kite.example.test/box unchanged\n",
        "kite.example.test/box configured\n",
    ]
    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.colour}") == "blue"


def test_apply_removes_what_the_manifest_no_longer_says(kubectl):
    """What an earlier apply set and this one leaves out is removed; what others set stays."""
    kubectl("apply", "-f", "-", text=config_map("settings", a="1", b="2"))
    kubectl("patch", "configmap", "settings", "-p", '{"data":{"c":"3"}}')
    kubectl("apply", "-f", "-", text=config_map("settings", a="1"))

    found = json.loads(kubectl("get", "configmap", "settings", "-o", "json"))
    assert found["data"] == {"a": "1", "c": "3"}


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.yaml")))
def test_our_examples_apply(kubectl, example):
    """Every example manifest is taken as it is, with strict validation."""
    manifest = yaml.safe_load((ROOT / "examples" / example).read_text())
    manifest["metadata"]["namespace"] = kubectl.namespace
    applied = kubectl("apply", "--validate=strict", "-f", "-", text=yaml.safe_dump(manifest))

    assert applied == f"workload.compute.datumapis.com/{manifest['metadata']['name']} created\n"


def test_get_as_a_table(kubectl):
    """The columns of a definition are shown, the less important ones with -o wide."""
    kubectl("apply", "-f", "-", text=kite("box"))
    plain, wide = kubectl("get", "kt"), kubectl("get", "kt", "-o", "wide")

    assert [line.split() for line in plain.splitlines()] == [
        ["NAME", "COLOUR", "TAILS"],
        ["box", "red", "1"],
    ]
    assert [line.split()[-1] for line in wide.splitlines()] == ["MAKER", "anna"]


def test_get_as_data(kubectl):
    """The same object as YAML, as JSON, by a path, and by name."""
    kubectl("apply", "-f", "-", text=kite("box"))
    as_yaml = yaml.safe_load(kubectl("get", "kite", "box", "-o", "yaml"))
    as_json = json.loads(kubectl("get", "kite", "box", "-o", "json"))

    assert as_yaml == as_json
    assert as_json["spec"] == {"colour": "red", "maker": "anna", "tails": 1}
    assert kubectl("get", "kites", "-o", "name") == "kite.example.test/box\n"
    assert kubectl("get", "kites", "-o", "jsonpath={.items[*].metadata.name}") == "box"


def test_get_by_selectors(kubectl):
    """Labels and names narrow a list; what is not there is said."""
    kubectl("apply", "-f", "-", text=kite("box") + "---\n" + kite("delta"))
    kubectl("label", "kite", "delta", "line=short", "--overwrite")

    assert kubectl("get", "kites", "-l", "line=long", "-o", "name") == "kite.example.test/box\n"
    by_name = kubectl("get", "kites", "--field-selector", "metadata.name=delta", "-o", "name")
    assert by_name == "kite.example.test/delta\n"
    assert "No resources found" in kubectl("get", "kites", "-l", "line=none")
    assert '(NotFound): kites.example.test "none" not found' in kubectl(
        "get", "kite", "none", code=1
    )


def test_get_in_pages(kubectl):
    """A list that comes in pieces is whole in the end."""
    kubectl("apply", "-f", "-", text="---\n".join(config_map(f"page-{n}") for n in range(5)))
    names = kubectl("get", "configmaps", "--chunk-size=2", "-o", "name").split()

    assert [name for name in names if "page" in name] == [f"configmap/page-{n}" for n in range(5)]


def test_watching(kubectl):
    """`get --watch` shows what is there, and then each change."""
    kubectl("apply", "-f", "-", text=kite("box"))
    with kubectl.start("get", "kites", "--watch", "--no-headers") as watching:
        first = watching.stdout.readline()
        kubectl("patch", "kite", "box", "--type=merge", "-p", '{"spec":{"colour":"green"}}')
        second = watching.stdout.readline()
        watching.terminate()
        watching.communicate()

    assert [line.split()[:2] for line in (first, second)] == [["box", "red"], ["box", "green"]]


def test_describe(kubectl):
    """Describe shows the fields and the events of an object."""
    kubectl("apply", "-f", "-", text=kite("box"))
    kubectl("create", "-f", "-", text=event("box", uid_of(kubectl, "kite/box"), kubectl.namespace))
    described = kubectl("describe", "kite", "box")

    assert re.search(r"^ +Colour: +red$", described, re.MULTILINE)
    assert re.search(r"Normal +Flown .* wind +It went up\.", described)
    assert re.search(r"Normal +Flown +Kite/box +It went up\.", kubectl("events"))
    assert "Flown" in kubectl("get", "events")


def test_explain(kubectl):
    """Explain tells the fields of a kind with their types and descriptions."""
    recursive = kubectl("explain", "kite", "--recursive")
    field = kubectl("explain", "kite.spec.colour")

    assert "A kite on a string." in recursive
    assert re.search(r"^ +colour\t<string> -required-$", recursive, re.MULTILINE)
    assert "The colour of its sail." in field
    assert re.search(r"<\[\]Placement|<\[\]Object", kubectl("explain", "workload.spec"))


@pytest.mark.parametrize("kind", ["configmap", "namespace", "event", "workload", "instance"])
def test_explain_every_sort_of_kind(kubectl, kind):
    """Built-in kinds and ours can be explained to the last field."""
    assert "FIELDS:" in kubectl("explain", kind, "--recursive")


def test_diff(kubectl):
    """Diff shows what an apply would change, and says by its code whether it would."""
    kubectl("apply", "-f", "-", text=kite("box"))
    shown = kubectl("diff", "-f", "-", text=kite("box", colour="green"), code=1)

    assert {"-  colour: red", "+  colour: green"} <= set(shown.splitlines())
    assert kubectl("diff", "-f", "-", text=kite("box")) == ""
    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.colour}") == "red"


def test_edit(kubectl, tmp_path):
    """Edit sends what the editor leaves behind."""
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/colour: red/colour: blue/" "$1"\n')
    editor.chmod(0o755)
    kubectl("apply", "-f", "-", text=kite("box"))
    edited = kubectl("edit", "kite", "box", KUBE_EDITOR=str(editor))

    assert edited == "kite.example.test/box edited\n"
    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.colour}") == "blue"


@pytest.mark.parametrize(
    ("form", "patch"),
    [
        ("merge", '{"spec":{"colour":"blue"}}'),
        ("json", '[{"op":"replace","path":"/spec/colour","value":"blue"}]'),
    ],
)
def test_patch(kubectl, form, patch):
    """Both forms of patch that a custom kind takes."""
    kubectl("apply", "-f", "-", text=kite("box"))
    kubectl("patch", "kite", "box", f"--type={form}", "-p", patch)

    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.colour}") == "blue"


def test_label_and_annotate(kubectl):
    """Labels and annotations are set, kept unless asked otherwise, and removed."""
    kubectl("apply", "-f", "-", text=kite("box"))
    kubectl("label", "kite", "box", "where=beach")
    kubectl("annotate", "kite", "box", "note=high")
    assert "already has a value" in kubectl("label", "kite", "box", "where=hill", code=1)
    kubectl("label", "kite", "box", "where-")
    found = json.loads(kubectl("get", "kite", "box", "-o", "json"))["metadata"]

    assert found["labels"] == {"line": "long"}
    assert found["annotations"]["note"] == "high"


def test_scale(kubectl):
    """Scale writes the field that the definition names."""
    kubectl("apply", "-f", "-", text=kite("box"))
    scaled = kubectl("scale", "kite", "box", "--replicas=4", "--current-replicas=1")

    assert scaled == "kite.example.test/box scaled\n"
    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec.tails}") == "4"
    kubectl("scale", "kite", "box", "--replicas=2", "--current-replicas=9", code=1)


def test_wait(kubectl):
    """Wait ends when a condition comes, when a field has a value, and when an object is gone."""
    kubectl("apply", "-f", "-", text=kite("box"))
    with kubectl.start("wait", "kite/box", "--for=condition=Ready", "--timeout=30s") as waiting:
        kubectl("patch", "kite", "box", "--subresource=status", "--type=merge", "-p", READY)
        assert waiting.communicate()[0] == "kite.example.test/box condition met\n"
    kubectl("wait", "kite/box", "--for=jsonpath={.spec.colour}=red", "--timeout=30s")
    with kubectl.start("wait", "kite/box", "--for=delete", "--timeout=30s") as waiting:
        kubectl("delete", "kite", "box")
        assert waiting.wait() == 0
    assert "timed out" in kubectl(
        "wait", "namespace", kubectl.namespace, "--for=condition=None", "--timeout=1s", code=1
    )


@pytest.mark.parametrize("mode", ["background", "foreground"])
def test_delete_with_dependents(kubectl, mode):
    """What an object owns goes with it, after it or before it."""
    owner_and_dependent(kubectl)
    kubectl("delete", "configmap", "mother", f"--cascade={mode}")

    kubectl("wait", "configmap/child", "--for=delete", "--timeout=30s")
    assert "child" not in kubectl("get", "configmaps", "-o", "name")


def test_delete_that_leaves_orphans(kubectl):
    """What an object owned stays, and names no owner any more."""
    owner_and_dependent(kubectl)
    kubectl("delete", "configmap", "mother", "--cascade=orphan")
    left = json.loads(kubectl("get", "configmap", "child", "-o", "json"))

    assert "ownerReferences" not in left["metadata"]


def test_delete_by_selector(kubectl):
    """Only objects with the label are deleted."""
    kubectl("apply", "-f", "-", text=kite("box") + "---\n" + kite("delta"))
    kubectl("label", "kite", "delta", "line=short", "--overwrite")
    deleted = kubectl("delete", "kites", "-l", "line=long")

    assert deleted.startswith('kite.example.test "box" deleted')
    assert kubectl("get", "kites", "-o", "name") == "kite.example.test/delta\n"


def test_delete_a_namespace(kubectl):
    """A namespace takes everything in it along."""
    kubectl("apply", "-f", "-", text=kite("box"))
    kubectl("delete", "namespace", kubectl.namespace, "--timeout=30s")

    assert "not found" in kubectl("get", "namespace", kubectl.namespace, code=1)
    assert "No resources found" in kubectl("get", "kites")


def test_create_and_replace(kubectl):
    """A second create is refused; replace writes the whole object."""
    kubectl("create", "-f", "-", text=kite("box"))
    assert "(AlreadyExists)" in kubectl("create", "-f", "-", text=kite("box"), code=1)
    kubectl("replace", "-f", "-", text=kite("box", colour="green", tails=3))

    assert kubectl("get", "kite", "box", "-o", "jsonpath={.spec}") == (
        '{"colour":"green","maker":"anna","tails":3}'
    )


def test_what_kubectl_makes_by_itself(kubectl):
    """Built-in kinds without a manifest: kubectl sends these as protobuf."""
    kubectl("create", "namespace", f"{kubectl.namespace}-more")
    kubectl("create", "configmap", "settings", "--from-literal=a=1")
    kubectl("create", "secret", "generic", "login", "--from-literal=password=x")
    kubectl("create", "serviceaccount", "robot")

    assert kubectl("get", "secret", "login", "-o", "jsonpath={.data.password}") == "eA=="
    tables = kubectl("get", "secret,configmap,serviceaccount")
    assert re.search(r"^secret/login +Opaque +1 ", tables, re.MULTILINE)
    assert re.search(r"^configmap/settings +1 ", tables, re.MULTILINE)


def test_a_dry_run(kubectl):
    """A dry run on the server shows the object with its defaults and keeps nothing."""
    shown = kubectl("create", "--dry-run=server", "-f", "-", "-o", "json", text=kite("box"))

    assert json.loads(shown)["spec"]["tails"] == 1
    assert "No resources found" in kubectl("get", "kites")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"colour": "pink"}, 'spec.colour: Unsupported value: "pink"'),
        ({"tails": -1}, "spec.tails: Invalid value: -1"),
        ({"wings": 2}, 'unknown field "spec.wings"'),
        ({"tails": "two"}, "spec.tails"),
    ],
    ids=["enum", "bound", "unknown", "type"],
)
def test_what_is_wrong_is_named(kubectl, spec, words):
    """A refusal names the field."""
    assert words in kubectl("create", "-f", "-", text=kite("box", **spec), code=1)
    assert "No resources found" in kubectl("get", "kites")


def test_pages_for_people_and_machines(kubectl):
    """Health and metrics can be read with --raw."""
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert "# TYPE " in kubectl("get", "--raw", "/metrics")

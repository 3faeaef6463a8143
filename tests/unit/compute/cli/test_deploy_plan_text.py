"""The plan of a deploy as people read it, and as programs do."""

import msgspec

from compute.api import annotations
from compute.api.compute import Workload
from compute.cli.deploy.plan_text import plan_text, result_line
from compute.decide.quota import INSTANCES, MEMORY, VCPUS
from compute.views.deploy_plans import deploy_plan_view
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import ObjectMeta, with_metadata, with_spec
from tests.support.compute.builders import placement, template, workload

PLENTY = {INSTANCES: 100, VCPUS: 100_000, MEMORY: 1_000_000}


def text(existing: Workload | None, wanted: Workload, left: dict[str, int] | None = None) -> str:
    return plan_text(deploy_plan_view([(existing, wanted)], left or PLENTY), "project demo")


def test_an_update_city_by_city():
    """What each city has before and after, and the quota beyond what the workload has."""
    before = workload("web", placement("home", "DFW", "LHR"))
    after = workload("web", placement("home", "DFW", "SIN", replicas=3), template=template("web:2"))
    paused = {annotations.PAUSED_CITIES: "DFW"}

    assert text(before, with_metadata(after, annotations=paused)) == (
        "workload/web will be updated in project demo\n"
        "\n"
        "  cities: +SIN -LHR\n"
        "  min replicas: 1 → 3\n"
        "  image: registry.test/web:1 → web:2\n"
        "\n"
        "  PLACEMENT   CITY   EFFECT             INSTANCES   VCPU   MEMORY\n"
        "  home        DFW    replace (paused)   1 → 3       3      6144 MiB\n"
        "  home        SIN    create             3           3      6144 MiB\n"
        "  home        LHR    remove             1 → 0       0      0 MiB\n"
        "\n"
        "  Quota: 6 instances, 6 vCPU, 12288 MiB of memory in 2 cities.\n"
        "         4 instances, 4 vCPU, 8192 MiB of memory more than now."
    )


def test_a_size_that_is_not_known():
    """A question mark, and the instances alone count."""
    made = template()
    runtime = made.spec.runtime
    huge = msgspec.structs.replace(runtime.resources, instance_type="huge")
    inner = msgspec.structs.replace(
        made.spec, runtime=msgspec.structs.replace(runtime, resources=huge)
    )
    shown = text(None, workload(template=msgspec.structs.replace(made, spec=inner)))

    assert "  home        DFW    create   1           ?      ?\n" in shown
    assert shown.endswith("  Quota: 1 instance in 1 city.")


def test_what_is_missing_is_said_last():
    """A network, and quota."""
    view = deploy_plan_view(
        [(None, workload("web", placement(replicas=8)))], {**PLENTY, VCPUS: 6000}, ["lab"]
    )

    assert plan_text(view, "project demo").endswith(
        "\n\nNetwork lab does not exist yet."
        "\n\nThe quota is too small: needs 8 vCPU, 6 left; try --min 6."
    )


def test_other_kinds_are_named_without_their_content():
    """It may be secret. What stays is said to stay."""
    config = ConfigMap(metadata=ObjectMeta(name="settings", namespace="default"), data={"A": "x"})
    secret = Secret(metadata=ObjectMeta(name="db", namespace="default"), data={"P": "c2VjcmV0"})
    view = deploy_plan_view([(config, config), (None, secret), (workload(), workload())], PLENTY)
    same = workload()

    assert plan_text(view, "project demo").split("\n\n")[0] == (
        "configmap/settings stays as it is\nsecret/db will be created"
    )
    assert "c2VjcmV0" not in msgspec.json.encode(view).decode()
    assert view.differs
    assert not deploy_plan_view([(config, config), (same, same)], {}).differs
    assert text(same, same) == "workload/web stays as it is in project demo"
    assert result_line("secret/db", "create") == "secret/db created"


def test_control_characters_do_not_reach_the_terminal():
    """The image is a text of the user's own, or of a file from somewhere."""
    before = workload()
    shown = text(before, with_spec(before, template=template("web:\x1b[2J")))

    assert "\x1b" not in shown
    assert r"web:\x1b[2J" in shown

"""What `describe` prints of an instance and of a workload."""

import json
from datetime import timedelta

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import InterfaceAssignments, NetworkInterfaceStatus
from compute.api.instance_spec import Container, NamedPort, NetworkRef, Sandbox
from compute.cli.look.instance_description import instance_description
from compute.cli.look.workload.workload_describe_run import description
from compute.decide import overrides
from compute.decide.workload import history
from compute.decide.workload.running_revisions import RunningRevisions
from compute.views.details.instance_details import InstanceEvidence, instance_detail
from compute.views.details.plane_paths import CELL, HUB, PlaneReading
from compute.views.details.workload_details import workload_detail
from compute.views.events import EventFilter, EventOrigins, timeline
from compute.views.instances import InstanceContext
from compute.views.workloads import workload_view
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource, KeySelector
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import (
    NOW,
    condition,
    instance_spec,
    placement,
    template,
    workload,
)
from tests.support.compute.event_builders import event
from tests.support.compute.explain_builders import answer, binding, claim, quota
from tests.support.compute.progress_builders import given, running

LATER = NOW + timedelta(minutes=3)
SECRET = EnvVarSource(secret_key_ref=KeySelector(name="db", key="url"))
VARIABLES = (EnvVar(name="GREETING", value="hello"), EnvVar(name="DB", value_from=SECRET))


def with_container(spec):
    container = Container(
        name="app", image="web:1", env=VARIABLES, ports=(NamedPort(name="http", port=80),)
    )
    sandbox = Sandbox(containers=(container,))
    return replace(spec, runtime=replace(spec.runtime, sandbox=sandbox))


def test_an_instance_that_waits_for_quota():
    """Its cause, its gates, what it needs, its planes and its events, in words."""
    of = running(0, quota("QuotaExceeded", "8 vCPU needed, 6 left"), gates=("Quota",))
    of = replace(of, spec=with_container(of.spec))
    asked = claim(
        answer("instances", "Granted"), answer("vcpus", "Denied", "x", "8 needed, 6 left")
    )
    events = timeline(
        [event("Instance/web-home-dfw-0", "QuotaExceeded", "Not enough", warning=True)],
        EventOrigins({}),
        EventFilter(),
    ).lines()
    context = InstanceContext(
        None, RunningRevisions(workload(), None), binding("Ready", status="True")
    )
    known = InstanceEvidence(
        of, context, "demo", asked, {"default": binding("Ready", status="True")}, events,
        [PlaneReading(HUB, "hub", problem="you may not read it"), PlaneReading(CELL, "dfw")],
    )  # fmt: skip

    lines = instance_description(instance_detail(known, LATER), "project demo", LATER)

    assert lines == [
        "Instance   web-home-dfw-0 in project demo",
        "Workload   web, placement home",
        "City       DFW",
        "Status     Pending (quota exceeded), for 3m",
        "Why        Instance web-home-dfw-0 in DFW is not ready. The project has not enough quota left "
        "for the instance. It says: 8 vCPU needed, 6 left.",
        "Type       sandbox/datumcloud/d1-standard-2",
        "Revision   - (old); the workload asks for another template",
        "Created    3m ago",
        "Data       live",
        "",
        "Gates",
        "  [x] Network   opened after 0s",
        "  [ ] Quota     waits since 3m: 8 vCPU needed, 6 left",
        "",
        "Quota",
        "  1 instance           granted   -",
        "  1 vCPU               denied    8 needed, 6 left",
        "  2048 MiB of memory   pending   The quota service has not answered yet",
        "",
        "Network",
        "  default   no address yet   binding web-home-dfw-net-0 ready",
        "",
        "Container app",
        "  Image      web:1",
        "  Ports      http 80/TCP",
        "  Environment",
        "    GREETING   (hidden; --show-values shows it)",
        "    DB         from secret db, key url",
        "",
        "Conditions",
        "  QuotaGranted   no   3m   QuotaExceeded: 8 vCPU needed, 6 left. The project has not enough "
        "quota left for the instance.",
        "",
        "Path from the project to the cell",
        "  PLANE     NAME   STATUS                          AGREES   LAST WRITE",
        "  project   demo   Pending (quota exceeded)        yes      3m ago",
        "  hub       hub    not read: you may not read it   -        -",
        "  cell      dfw    not there                       no       -",
        "",
        "Events",
        "  AGE   CITY   OBJECT                    REASON          MESSAGE",
        "  3m    DFW    instance/web-home-dfw-0   QuotaExceeded   Warning: Not enough",
        "",
        "Next steps",
        "  Run compute quota; lower compute scale web --min N, delete something, or ask for more quota.",
    ]  # fmt: skip


def test_an_instance_that_runs():
    """Nothing is to be done, so there are no next steps; what cannot be read says so."""
    of = running()
    assigned = InterfaceAssignments(network_ip="10.0.0.2", external_ip="203.0.113.9")
    reported = (NetworkInterfaceStatus(assignments=assigned),)
    of = replace(of, status=replace(of.status, network_interfaces=reported))
    detail = instance_detail(InstanceEvidence(of, InstanceContext(), "demo"), LATER)

    text = "\n".join(instance_description(detail, "project demo", LATER))

    assert "Why" not in text
    assert "Next steps" not in text
    assert "Revision   not known" in text
    assert "[x] Network   open\n" in text
    assert "There is no claim for it that you may read." in text
    assert "default   internal 10.0.0.2, external 203.0.113.9" in text
    assert "You may not read events here." in text


def test_control_characters_are_escaped():
    """Messages and commands of others reach the screen as text."""
    of = running(0, quota("QuotaExceeded", "no\x1b[2J quota"), gates=("Quota",))
    container = Container(name="app", image="web:1\x07", command=("a\x1b",))
    spec = instance_spec()
    sandbox = Sandbox(containers=(container,))
    of = replace(of, spec=replace(of.spec, runtime=replace(spec.runtime, sandbox=sandbox)))
    detail = instance_detail(InstanceEvidence(of, InstanceContext(), "demo"), LATER)

    text = "\n".join(instance_description(detail, "project demo", LATER))

    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_workload_with_all_that_is_set():
    """Placements in words, values hidden, and what users have set."""
    of = workload(
        "web",
        placement("home", "DFW"),
        placement("edge", "LHR", max_replicas=4, instance_management_policy="Parallel"),
        template=replace(template(), spec=with_container(instance_spec())),
    )
    first = history.record(None, of, "jo", NOW)
    of = overrides.pinned(of, {"LHR": (1, template("web:0"))})
    of = overrides.paused(overrides.restarted(of, ["DFW"], NOW), ["LHR"])
    of = overrides.replaced(of, ["web-home-dfw-0"], NOW)
    status = replace(of.status, conditions=(condition("Available", "Unknown", "Pending"),))
    of = replace(of, metadata=replace(of.metadata, labels={"team": "shop"}), status=status)
    summary = workload_view(of, [given()], [running()], LATER, first)

    lines = description(workload_detail(of, summary, (), LATER), "project demo", LATER)

    text = "\n".join(lines)
    start = text.index("Placements")
    assert text[start : text.index("\nNext steps") if "\nNext steps" in text else None].strip() == (
        "Placements\n"
        "  home   DFW   1 instance per city; one starts after the other is ready\n"
        "  edge   LHR   1..4 instances per city; all start at once\n"
        "\n"
        "Container app\n"
        "  Image      web:1\n"
        "  Ports      http 80/TCP\n"
        "  Environment\n"
        "    GREETING   (hidden; --show-values shows it)\n"
        "    DB         from secret db, key url\n"
        "\n"
        "Networks\n"
        "  default\n"
        "\n"
        "Labels\n"
        "  team=shop\n"
        "\n"
        "Set by users\n"
        "  Paused in LHR: changes of the template wait there\n"
        "  LHR is pinned to revision 1 by an undo\n"
        "  DFW restarted 3m ago\n"
        "  Instance web-home-dfw-0 replaced 3m ago\n"
        "\n"
        "Conditions\n"
        "  Available   unknown   -   Pending: It has not been reconciled yet.\n"
        "\n"
        "Events\n"
        "  None in the last hour."
    )
    assert lines[0] == "Workload   web in project demo, namespace default"
    assert "Revision   1 (initial deploy by jo, 3m ago)" in lines


def test_values_that_are_asked_for():
    """They are shown as they are; that of a secret still is not."""
    of = workload("web", template=replace(template(), spec=with_container(instance_spec())))
    summary = workload_view(of, (), (), LATER)
    detail = workload_detail(of, summary, None, LATER, show_values=True)

    text = "\n".join(description(detail, "project demo", LATER))

    assert "GREETING   = hello" in text
    assert "DB         from secret db, key url" in text


def test_no_text_of_a_workload_moves_the_cursor():
    """Labels, annotations and names come from other users."""
    hostile = "a\x1b[2J\r\nb"
    given_ = with_metadata(
        workload(), labels={"team": hostile},
        annotations={annotations.REPLACED_INSTANCES: json.dumps({"web-home-dfw-0": hostile})},
    )  # fmt: skip
    spec = given_.spec.template.spec
    networks = replace(spec.network_interfaces[0], network=NetworkRef(name=hostile))
    spec = replace(spec, network_interfaces=(networks,))
    template_ = replace(given_.spec.template, spec=spec)
    given_ = replace(given_, spec=replace(given_.spec, template=template_))
    summary = workload_view(given_, [], [], NOW)

    lines = description(workload_detail(given_, summary, None, NOW), "demo", NOW)

    assert all(line.isprintable() for line in lines)
    assert r"  team=a\x1b[2J\r\nb" in lines
    assert r"  a\x1b[2J\r\nb" in lines

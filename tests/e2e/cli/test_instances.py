"""`compute instances`, on a running world, in a project of its own."""

import json
import re
import signal

import pytest

from compute.api.compute import Instance
from compute.decide.deployment.slots import is_ready
from tests.support.compute.cli_world import has_reason, make_workload, settle
from tests.support.compute.project_objects import BROKEN_IMAGE, kubeconfig_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def fleet(shop):
    """Instances that run, one with a broken image, and one for which there is no quota left."""
    project = shop.variables["COMPUTE_PROJECT"]

    def ready(count):
        settle(shop.data, project, Instance, lambda found: sum(map(is_ready, found)) == count)

    make_workload(shop.data, project, "web", "DFW", "LHR", replicas=2)
    ready(4)
    make_workload(shop.data, project, "broken", "SIN", image=BROKEN_IMAGE)
    settle(shop.data, project, Instance, has_reason("ImageUnavailable"))
    make_workload(shop.data, project, "filler", "SIN", replicas=5)
    ready(9)
    make_workload(shop.data, project, "waits", "LHR")
    settle(shop.data, project, Instance, has_reason("QuotaExceeded"))
    return shop


@pytest.mark.usefixtures("fleet")
def test_the_list(shop_transcript):
    """All of them; then filtered, in each format."""
    assert shop_transcript("instances").code == 0
    shop_transcript("instances", "--workload", "web", "--location", "dfw", "--no-headers")
    shop_transcript("inst", "--status", "failed,pending", "-o", "wide")
    shop_transcript("inst", "list", "--city=SIN", "--status=failed", "-o", "name")
    shop_transcript("inst", "--workload", "broken", "--city", "DFW")
    shop_transcript("inst", "-n", "empty")


def test_json_respects_the_filters(fleet):
    """As the table does; jsonl is one document a line."""
    found = json.loads(
        fleet("instances", "--workload", "web", "--city", "LHR", "-o", "json").stdout
    )
    lines = fleet("instances", "--status", "pending", "-o", "jsonl").stdout.splitlines()

    assert [view["name"] for view in found] == ["web-default-lhr-0", "web-default-lhr-1"]
    assert [json.loads(line)["status"] for line in lines] == ["Pending (quota exceeded)"]


@pytest.mark.usefixtures("fleet")
def test_a_broken_image_described(shop_transcript):
    """The cause first; everything else is evidence."""
    assert shop_transcript("instances", "describe", "broken-default-sin-0").code == 0


@pytest.mark.usefixtures("fleet")
def test_a_lack_of_quota_described(shop_transcript):
    """The gate that is closed, and what it needs."""
    assert shop_transcript("instances", "describe", "waits-default-lhr-0").code == 0


def test_a_healthy_instance_described_for_programs(fleet):
    """The planes agree, and the view has no next step."""
    done = fleet("instances", "describe", "web-default-dfw-0", "-o", "json")
    view = json.loads(done.stdout)

    assert view["summary"]["status"] == "Available"
    assert [(p["plane"], p["name"], p["state"], p["differs"]) for p in view["path"]] == [
        ("project", "instances", "found", []),
        ("hub", "hub", "found", []),
        ("cell", "dfw", "found", []),
    ]
    assert (view["cause"]["healthy"], view["cause"]["next"]) == (True, "")
    assert fleet("inst", "describe", "web-default-dfw-0", "-o", "yaml").stdout.startswith(
        "summary:"
    )


def test_a_user_of_the_project_alone(compute, name, site):
    """Planes that the user may not read say so; everything else is there."""
    kubeconfig = kubeconfig_of(compute, name)

    done = compute("instances", "describe", f"{site}-default-dfw-0", "--kubeconfig", kubeconfig)

    assert done.code == 0, done
    assert re.search(r"hub +hub +not read: your kubeconfig has no context hub", done.stdout)
    assert re.search(r"cell +dfw +not read: your kubeconfig has no context cell-dfw", done.stdout)


@pytest.mark.usefixtures("fleet")
def test_mistakes(shop_transcript):
    """Each names what to type instead."""
    assert shop_transcript("instances", "describe", "web-default-dwf-0").code == 7
    assert shop_transcript("instances", "describe", "nothing", "-o", "json").code == 7
    assert shop_transcript("instances", "--status", "runing").code == 2
    assert shop_transcript("instances", "-w", "-o", "json").code == 2
    assert shop_transcript("instances", "--workload", "wbe").code == 7
    assert shop_transcript("instances", "--city", "DFX", "-w").code == 7
    assert shop_transcript("instances", "delete", "web-default-dfw-9", "-y").code == 7
    assert shop_transcript("instances", "delete", "web-default-dfw-0").code == 2
    assert shop_transcript("instances", "describe", "web-default-dfw-0\x1b[2J").code == 7


@pytest.fixture
def site(compute, name):
    """A workload in the project `demo` that runs, and that a test may change."""
    make_workload(compute.data, "demo", name, "DFW")
    assert compute("wait", name, "--for", "ready").code == 0
    yield name
    compute("destroy", name, "-y")  # the quota of the project is for ten instances


def test_an_instance_is_replaced(compute, site):
    """The new one has the same name; the command waits until it is ready."""
    target = f"{site}-default-dfw-0"
    before = created(compute, target)

    done = compute("instances", "delete", target, "-y", "--wait")

    assert done.code == 0, done
    assert done.stdout == ""
    assert f"Instance {target} is being replaced." in done.stderr
    assert re.search(rf"^\d+s +{target} +Available$", done.stderr, re.MULTILINE)
    assert created(compute, target) != before

    named = compute("instances", "delete", target, "-y", "--wait", "-o", "name")
    assert (named.code, named.stdout) == (0, f"instance/{target}\n")


def created(compute, name):
    """What identifies an Instance in its cell: the time of its replacement."""
    view = json.loads(compute("wl", "get", name.rpartition("-default-")[0], "-o", "json").stdout)
    return view["metadata"].get("annotations", {})


def test_a_replacement_is_asked_for(compute, site):
    """No is an answer, and Return alone is yes."""
    target = f"{site}-default-dfw-0"
    with compute.terminal("instances", "delete", target, "-o", "name", columns=140) as terminal:
        terminal.until(rf"^Stop instance {target} of {site} in DFW, and start a new one.*\[Y/n\]:")
        terminal.type("n\r")
        assert terminal.ended() == 0
    assert "Nothing was changed." in terminal.text()
    assert "instance/" not in terminal.text()

    with compute.terminal("instances", "delete", target, columns=140) as terminal:
        terminal.until(r"\[Y/n\]:")
        terminal.type("\r")
        assert terminal.ended() == 0
    assert f"Watch it with: compute instances --workload {site} -w" in terminal.text()


def test_changes_as_lines(compute, site):
    """Without a terminal -w prints each change; Ctrl-C of a script ends it with 130."""
    process = compute.start("instances", "--workload", site, "-w", "-o", "jsonl")
    try:
        first = json.loads(process.stdout.readline())
        assert compute("instances", "delete", f"{site}-default-dfw-0", "-y").code == 0
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.communicate()

    assert (first["change"], first["instance"]["status"]) == ("added", "Available")
    assert second["change"] in {"changed", "gone"}


def test_a_reader_that_is_gone_ends_it(compute, site):
    """As in `compute instances -w | head -1`: what nothing reads is not printed without end."""
    process = compute.start("instances", "--workload", site, "-w", "-o", "jsonl")
    try:
        assert process.stdout.readline()
        process.stdout.close()
        assert compute("scale", site, "--min", "2").code == 0
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.stderr.close()


def test_a_live_table(compute, site):
    """On a terminal the table is drawn over itself, until Ctrl-C, which is no error."""
    with compute.terminal("instances", "--workload", site, "-w", columns=140) as terminal:
        terminal.until(r"^1 instance: 1 available$")
        assert compute("scale", site, "--min", "2").code == 0
        screen = terminal.until(r"^2 instances: 2 available$")
        terminal.type("\x03")
        assert terminal.ended() == 0

    assert screen.count("NAME") == 1
    assert re.search(rf"^{site}-default-dfw-1 +{site} +DFW .*Available +\d", screen, re.MULTILINE)
    assert b"\x1b[?25h" in terminal.raw

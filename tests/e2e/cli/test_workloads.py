"""`compute workloads`, on a running world, in a project of its own."""

import json
import shlex
from pathlib import Path

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.decide.deployment.slots import is_ready
from tests.support.compute.cli_runner import COMPUTE
from tests.support.compute.cli_world import has_reason, make_workload, settle
from tests.support.compute.project_objects import BROKEN_IMAGE

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

IMAGE = "registry.example.test/team/web:1"


@pytest.fixture(scope="module")
def fleet(shop):
    """A workload that runs, one with a broken image, and one for which there is no quota left."""
    project = shop.variables["COMPUTE_PROJECT"]

    def ready(count):
        settle(shop.data, project, Instance, lambda found: sum(map(is_ready, found)) == count)

    def stuck(name, reason):
        for kind in (WorkloadDeployment, Workload):
            settle(shop.data, project, kind, reports(name, reason))

    make_workload(shop.data, project, "web", "DFW", "LHR", replicas=2)
    ready(4)
    make_workload(shop.data, project, "broken", "SIN", image=BROKEN_IMAGE)
    settle(shop.data, project, Instance, has_reason("ImageUnavailable"))
    make_workload(shop.data, project, "filler", "SIN", replicas=5)
    ready(9)
    make_workload(shop.data, project, "waits", "LHR")
    settle(shop.data, project, Instance, has_reason("QuotaExceeded"))
    stuck("waits", "QuotaNotGranted")
    assert shop("rollout", "status", "broken").code == 4
    return shop


def reports(name, reason):
    """Whether the object of this name, or of this Workload, reports a reason."""

    def fits(found):
        return any(
            condition.reason == reason
            for each in found
            if each.metadata.name.startswith(name)
            for condition in each.status.conditions
        )

    return fits


@pytest.mark.usefixtures("fleet")
def test_the_list(shop_transcript):
    """All of them; then filtered and sorted, in each format."""
    assert shop_transcript("workloads").code == 0
    shop_transcript("workloads", "--health", "unavailable", "--no-headers")
    shop_transcript("wl", "--city=SIN", "--sort", "health", "-o", "wide")
    shop_transcript("wl", "list", "-o", "name")
    shop_transcript("wl", "-l", "team=none")
    shop_transcript("wl", "--city", "SIN", "--health", "degraded")


def test_json_respects_the_filters(fleet):
    """As the table does; jsonl is one document a line."""
    found = json.loads(fleet("workloads", "--city", "DFW", "-o", "json").stdout)
    lines = fleet("workloads", "--city", "SIN", "-o", "jsonl").stdout.splitlines()

    assert [view["name"] for view in found] == ["web"]
    assert [json.loads(line)["name"] for line in lines] == ["broken", "filler"]


def test_a_workload_as_the_server_has_it(fleet):
    """The whole object, without the records of who wrote which field."""
    text = fleet("workloads", "get", "web").stdout
    document = json.loads(fleet("wl", "get", "web", "-o", "json").stdout)

    assert text.startswith("apiVersion: compute.datumapis.com/v1alpha\nkind: Workload\n")
    assert document["spec"]["placements"][0]["cityCodes"] == ["DFW", "LHR"]
    assert document["status"]["readyReplicas"] == 4
    assert "managedFields" not in document["metadata"]


@pytest.mark.usefixtures("fleet")
def test_a_broken_image_described(shop_transcript):
    """What is wrong, in which city, and what to type next."""
    assert shop_transcript("workloads", "describe", "broken").code == 0


def test_a_lack_of_quota_described(fleet):
    """The cause is in the city's row, in the conditions and in the next step."""
    view = json.loads(fleet("workloads", "describe", "waits", "-o", "json").stdout)

    (city,) = view["summary"]["cities"]
    assert (city["state"], city["reason"]) == ("Blocked", "QuotaExceeded")
    assert view["placements"] == [
        {
            "name": "default",
            "cities": ["LHR"],
            "minReplicas": 1,
            "maxReplicas": None,
            "metrics": [],
            "policy": "OrderedReady",
        }
    ]
    text = fleet("workloads", "describe", "waits").stdout
    assert "LHR: Run compute quota; lower compute scale waits --min N" in text
    assert fleet("workloads", "describe", "waits", "-o", "yaml").stdout.startswith("summary:\n")


@pytest.mark.usefixtures("fleet")
def test_mistakes(shop_transcript):
    """Each names what to type instead."""
    assert shop_transcript("wl", "--city", "DFX").code == 7
    assert shop_transcript("workloads", "describe", "wbe").code == 7
    assert shop_transcript("workloads", "get", "nothing").code == 7
    assert shop_transcript("workloads", "--health", "degarded").code == 2
    assert shop_transcript("workloads", "lst").code == 2
    assert shop_transcript("workloads", "-l", "((").code == 1
    assert shop_transcript("workloads", "set", "image", "web", "ap=x:1").code == 2
    assert shop_transcript("workloads", "set", "image", "web", "=x:1").code == 2
    assert shop_transcript("workloads", "set", "image", "web", "app=x:1", "app=x:2").code == 2
    assert shop_transcript("workloads", "edit", "web", EDITOR="no-such-editor").code == 1
    assert shop_transcript("workloads", "edit", "web", EDITOR="").code == 2
    assert shop_transcript("workloads", "edit", "web", EDITOR="vi '").code == 2


def test_an_empty_project(transcript, name):
    """The first command to type."""
    transcript.replace[name] = "empty"
    assert transcript("workloads", "-n", name).code == 0


@pytest.fixture
def site(compute, name):
    """A workload in the project `demo` that runs, and that a test may change."""
    make_workload(compute.data, "demo", name, "DFW", image=IMAGE)
    assert compute("wait", name, "--for", "ready").code == 0
    yield name
    compute("destroy", name, "-y")  # the quota of the project is for ten instances


def test_a_new_image(transcript, site):
    """The rollout is followed to its end; a second time nothing is to be done."""
    transcript.replace[site] = "web"
    image = "registry.example.test/team/web:2"

    assert transcript("workloads", "set", "image", site, f"app={image}", "-o", "name").code == 0
    assert transcript("workloads", "set", "image", site, image).code == 0
    detached = transcript("wl", "set", "image", site, IMAGE, "--detach", "-o", "json")
    assert detached.code == 0


def test_a_new_image_that_does_not_exist(compute, site):
    """It ends with the cause, and with the code of a rollout that failed."""
    done = compute("workloads", "set", "image", site, BROKEN_IMAGE)

    assert done.code == 4, done
    assert "in DFW: " in done.stderr
    assert "compute rollout undo" in done.stderr


class Editors:
    """Editors that are scripts. Each gets the file as its first argument, the count of its runs as $N."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def script(self, *steps: str) -> dict[str, str]:
        """The variables for an editor whose n-th run is the n-th step, and the last from then on."""
        count = self._folder / "runs"
        cases = "\n".join(f"{n}) {step} ;;" for n, step in enumerate(steps[:-1], 1))
        file = self._folder / "editor"
        file.write_text(
            f"#!/bin/sh\nN=$(cat {count} 2>/dev/null || echo 0); N=$((N+1)); echo $N > {count}\n"
            f'cp "$1" {self._folder}/shown.$N\n'
            f"case $N in\n{cases}\n*) {steps[-1]} ;;\nesac\n"
        )
        file.chmod(0o700)
        return {"EDITOR": str(file), "TMPDIR": str(self._folder)}

    def shown(self, run: int) -> str:
        return (self._folder / f"shown.{run}").read_text()

    def kept(self) -> list[Path]:
        return list(self._folder.glob("compute-edit-*"))


@pytest.fixture
def editors(tmp_path):
    return Editors(tmp_path)


def scaled(to):
    return f'sed -i "s/minReplicas: .*/minReplicas: {to}/" "$1"'


def minimum(compute, name):
    document = json.loads(compute("wl", "get", name, "-o", "json").stdout)
    return document["spec"]["placements"][0]["scaleSettings"]["minReplicas"]


def test_edited_at_once(transcript, compute, site, editors):
    """The difference is written; without one, nothing is."""
    transcript.replace[site] = "web"

    assert transcript("workloads", "edit", site, **editors.script("true")).code == 0
    assert transcript("workloads", "edit", site, **editors.script(scaled(2))).code == 0

    assert minimum(compute, site) == 2
    assert editors.kept() == []


def test_an_invalid_text_is_opened_again_with_the_reasons(compute, site, editors):
    """Until it is valid. The reasons are comments, and the text is that of the last attempt."""
    steps = (
        scaled("two"),
        'printf "a: b: c" >> "$1"',
        'sed -i "/^a: b/d" "$1"; ' + scaled("2\\n      minimum: 2"),
        'sed -i "/ minimum:/d; s/name: w/name: x/" "$1"',
        'sed -i "s/name: x/name: w/" "$1"',
    )

    done = compute("workloads", "edit", site, **editors.script(*steps))

    assert (done.code, minimum(compute, site)) == (0, 2), done
    assert "scaleSettings.minReplicas" in editors.shown(2)
    assert "must be of type integer" in editors.shown(2)
    assert "mapping values are not allowed" in editors.shown(3)
    assert 'unknown field "spec.placements[0].scaleSettings.minimum"' in editors.shown(4)
    assert f"metadata.name: must stay {site}" in editors.shown(5)
    assert editors.kept() == []


def test_an_invalid_text_that_is_left_as_it_is(transcript, compute, site, editors):
    """The edit ends, and the text is kept."""
    done = transcript("workloads", "edit", site, **editors.script(scaled(5000), "true"))

    (kept,) = editors.kept()
    transcript.replace |= {str(kept): "FILE", site: "web"}
    assert (done.code, minimum(compute, site)) == (1, 1)
    assert "minReplicas: 5000" in kept.read_text()


def test_an_editor_that_fails(transcript, site, editors):
    """Nothing was changed, so nothing is kept."""
    transcript.replace[site] = "web"
    variables = editors.script("exit 3")
    transcript.replace[variables["EDITOR"]] = "EDITOR"

    assert transcript("workloads", "edit", site, **variables).code == 1
    assert editors.kept() == []


def test_others_change_another_field_meanwhile(compute, site, editors):
    """Both changes stand."""
    other = f"{shlex.quote(str(COMPUTE))} workloads set image {site} registry.example.test/team/web:2 --detach 2>&-"

    done = compute("workloads", "edit", site, **editors.script(f"{scaled(2)}; {other}"))

    document = json.loads(compute("wl", "get", site, "-o", "json").stdout)
    assert done.code == 0, done
    assert minimum(compute, site) == 2
    assert "team/web:2" in json.dumps(document["spec"])


def test_others_change_the_same_field_meanwhile(transcript, compute, site, editors):
    """Nothing is written, the field is named, and the text is kept."""
    mine = 'sed -i "s/team.web:1/team\\/web:3/" "$1"'
    other = f"{shlex.quote(str(COMPUTE))} workloads set image {site} registry.example.test/team/web:2 --detach 2>&-"

    done = transcript("workloads", "edit", site, **editors.script(f"{mine}; {other}"))

    (kept,) = editors.kept()
    transcript.replace |= {str(kept): "FILE", site: "web"}
    assert done.code == 8
    assert "team/web:3" in kept.read_text()
    assert "team/web:2" in compute("wl", "get", site).stdout


def test_a_workload_that_is_deleted_meanwhile(transcript, site, editors):
    """There is nothing to write to; the text is kept."""
    other = f"{shlex.quote(str(COMPUTE))} workloads delete {site} -y --wait >&- 2>&-"

    done = transcript("workloads", "edit", site, **editors.script(f"{scaled(2)}; {other}"))

    (kept,) = editors.kept()
    transcript.replace |= {str(kept): "FILE", site: "web"}
    assert done.code == 7
    assert "minReplicas: 2" in kept.read_text()

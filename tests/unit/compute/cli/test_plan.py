"""`compute plan`, as a user sees it."""

import io
import json
from pathlib import Path

import pytest
import yaml

from compute.cli.deploy.plan_run import _amounts as amounts
from compute.cli.root import run
from compute.decide.workload.preview import Need

EXAMPLES = Path(__file__).parents[4] / "examples"

BROKEN = """\
apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata: {name: web}
spec:
  template:
    spec:
      runtime:
        resources: {instanceType: datumcloud/d1-standard-2}
        sandbox: {containers: [{name: app, image: ""}]}
      networkInterfaces: [{network: {name: default}}]
  placements:
  - {name: home, cityCodes: [DWF], scaleSettings: {minReplicas: 1}}
"""


@pytest.fixture
def plan(capsys):
    """Runs the command; gives code, stdout and stderr."""

    def _plan(*arguments: str) -> tuple[int, str, str]:
        code = run(["plan", *arguments])
        return (code, *capsys.readouterr())

    return _plan


@pytest.fixture
def written(tmp_path):
    """Writes a manifest and gives its path."""

    def _written(text: str) -> str:
        path = tmp_path / "web.yaml"
        path.write_text(text)
        return str(path)

    return _written


def test_a_wrong_manifest_is_shown_with_every_error(plan, written):
    """Errors are below what would be created, each with its field and a fix."""
    path = written(BROKEN)
    code, out, err = plan("-f", path, "--cities", "DFW,LHR")

    assert code == 1
    assert out == (
        f"Workload web in namespace default ({path})\n\n"
        "PLACEMENT   CITY   DEPLOYMENT         START        INSTANCES        VCPU   MEMORY\n"
        "home        DFW    web-home-dfw       one by one   web-home-dfw-0   1      2048 MiB\n"
        "home        DWF    city not offered\n\n"
        "Quota once corrected: 1 instance, 1 vCPU, 2048 MiB memory in 1 deployment.\n\n"
        "Errors:\n"
        "  spec.template.spec.runtime.sandbox.containers[0].image: Required value: "
        "name the image to run\n"
        '  spec.placements[0].cityCodes[0]: Unsupported value: "DWF": '
        'supported values: "DFW", "LHR"; did you mean "DFW"?\n'
    )
    assert err == (
        "Error: the workload cannot be created as written\n"
        "Next:  compute explain workload.spec.template.spec.runtime.sandbox.containers.image\n"
    )


def test_json_and_yaml_hold_the_same_data(plan):
    """Scripts get every name, number and error; nothing else is on stdout."""
    arguments = ("-f", str(EXAMPLES / "edge-cache.yaml"), "--cities", "DFW", "--cities", "LHR")
    _, as_json, _ = plan(*arguments, "-o", "json")
    code, as_yaml, _ = plan(*arguments, "-o", "yaml")
    (view,) = json.loads(as_json)["workloads"]

    assert code == 1
    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert view["deployments"][0] == {
        "placement": "americas",
        "city": "DFW",
        "name": "edge-cache-americas-dfw",
        "instanceManagementPolicy": "OrderedReady",
        "instances": ["edge-cache-americas-dfw-0", "edge-cache-americas-dfw-1"],
        "quota": {"instances": 2, "vcpuMillicores": 2000, "memoryMiB": 4096},
    }
    assert view["quota"] == {"instances": 3, "vcpuMillicores": 3000, "memoryMiB": 6144}
    assert view["unmatchedCities"] == [{"placement": "americas", "city": "DLS"}]
    assert view["errors"] == [
        {
            "field": "spec.placements[0].cityCodes[1]",
            "reason": "FieldValueNotSupported",
            "message": 'Unsupported value: "DLS": supported values: "DFW", "LHR"',
        }
    ]


@pytest.mark.parametrize("example", ["greeter", "buildbox", "edge-cache"])
def test_the_examples_are_valid(plan, example):
    """Each example of the repository plans without an error or a warning."""
    code, out, err = plan("-f", str(EXAMPLES / f"{example}.yaml"))

    assert (code, err) == (0, "")
    assert "Errors" not in out
    assert "Warnings" not in out


def test_other_kinds_are_skipped_and_named(plan, written):
    """A file may hold what the Workload needs; it is passed over, not forgotten."""
    network = (
        "kind: Network\napiVersion: networking.datumapis.com/v1alpha\nmetadata: {name: a}\n---\n"
    )
    path = written(network + (EXAMPLES / "greeter.yaml").read_text())
    code, out, err = plan("-f", path)

    assert code == 0
    assert out.startswith("Workload greeter")
    assert err == f"Skipped Network a in {path}: only Workloads are planned.\n"


def test_a_file_without_a_workload_is_an_error(plan, written):
    """A plan of nothing would look like success."""
    path = written("kind: Network\nmetadata: 3\n")

    assert plan("-f", path) == (
        1,
        "",
        f"Skipped Network in {path}: only Workloads are planned.\n"
        f"Error: there is no Workload in {path}\nNext:  compute explain workload\n",
    )


def test_a_document_without_a_kind(plan, written):
    """A document without a kind is taken for a Workload, and its missing fields are named."""
    code, out, _ = plan("-f", written("metadata: {name: web}\n"))

    assert code == 1
    assert "kind: Required value: write Workload" in out
    assert "apiVersion: Required value" in out


def test_unknown_fields_are_warned_of(plan, written):
    """A misspelled field would be dropped by the server, so it is named with what was meant."""
    code, out, _ = plan("-f", written(BROKEN.replace('image: ""', "image: web:1, imagee: x")))

    assert code == 0
    assert 'Warnings:\n  unknown field "spec.template.spec.runtime.sandbox' in out
    assert 'did you mean "image"?' in out


def test_reads_stdin_and_starts_in_parallel(plan, monkeypatch):
    """A dash reads stdin; a Parallel placement starts all at once, a single city shows its span."""
    text = BROKEN.replace('image: ""', "image: web:1").replace("DWF", "DFW")
    text = text.replace("minReplicas: 1", "minReplicas: 3, instanceManagementPolicy: Parallel")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, _ = plan("-f", "-")

    assert code == 0
    assert "home        DFW    web-home-dfw   at once   web-home-dfw-0..2   3      6144 MiB" in out


@pytest.mark.parametrize(
    "kind", ["workloads", "Worklaod", "workload", "WorkLoad", "Wrkload", "Job"]
)
def test_a_misspelt_workload_is_reported_as_such(plan, written, kind):
    """A kind in another case or number, or with a slip in it, is an error at that field."""
    code, out, err = plan("-f", written(BROKEN.replace("kind: Workload", f"kind: {kind}")))

    assert code == 1
    assert f'kind: Unsupported value: "{kind}": supported values: "Workload"' in out
    assert "Skipped" not in err


@pytest.mark.parametrize("version", ["compute.datumapis.com/v1", "compute.datumapis.org/v1alpha"])
def test_a_misspelt_api_version_is_named(plan, written, version):
    """The error is at the field, with the one that is served."""
    text = BROKEN.replace("compute.datumapis.com/v1alpha", version)
    code, out, _ = plan("-f", written(text))

    assert code == 1
    assert f'apiVersion: Unsupported value: "{version}": supported values: "compute.da' in out


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("apps/v1", "Deployment"),
        ("compute.datumapis.com/v1alpha", "WorkloadDeployment"),
        ("work.karmada.io/v1alpha1", "Work"),
    ],
)
def test_other_kinds_of_a_like_name_are_skipped(plan, written, version, kind):
    """They are no slips."""
    other = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n---\n"
    code, _, err = plan("-f", written(other + (EXAMPLES / "greeter.yaml").read_text()))

    assert code == 0
    assert err.startswith(f"Skipped {kind} a in ")


def test_an_unknown_city_is_refused_with_the_nearest(plan, written):
    """Where no manifest names it, it makes no difference to the plan, and is a slip."""
    code, out, err = plan("-f", written(BROKEN), "--cities", "LHR,DFX")

    assert (code, out) == (2, "")
    assert "no city has the code 'DFX'; did you mean DFW (Dallas)?" in err


def test_a_city_of_a_private_platform_is_planned(plan, written):
    """A platform may have codes of its own: one that the manifest names is meant."""
    code, out, _ = plan(
        "-f", written(BROKEN.replace("DWF", "LAB7").replace('""', "web:1")), "--cities", "LAB7"
    )

    assert code == 0
    assert "web-home-lab7" in out


def test_cities_that_were_not_checked_are_mentioned(plan, written):
    """Without --cities a misspelt city passes, and the plan says that it was not checked."""
    _, out, err = plan("-f", written(BROKEN), "-f", str(EXAMPLES / "greeter.yaml"))

    assert out.endswith("\n\nCities were taken as offered; check them with --cities.\n")
    assert err.startswith("Error: 1 of 2 workloads cannot be created as written\nNext:  ")


def test_a_size_that_is_not_known_is_not_zero(plan, written):
    """An unknown instance type has a size, but it is not known."""
    _, out, _ = plan("-f", written(BROKEN.replace("datumcloud/d1-standard-2", "huge")))

    assert "web-home-dwf-0   ?      ?" in out
    assert "Quota once corrected: 1 instance, ? vCPU, ? memory in 1 deployment." in out


def test_fractions_of_a_core_are_shown():
    """Millicores that make no whole core are shown as a decimal."""
    assert amounts(Need(1, 250, 64)) == ("0.25", "64 MiB")


def test_the_quota_is_that_of_the_corrected_manifest(plan, written):
    """A size that the advice says to remove is not added up, and no city is counted twice."""
    text = BROKEN.replace('image: ""', "image: web:1, resources: {limits: {cpu: 8, memory: 9Gi}}")
    text = text.replace("[DWF]", "[DFW, dfw]")
    _, out, _ = plan("-f", written(text), "--cities", "DFW,LHR")

    assert "the instance type decides the size; remove this field" in out
    assert "Quota once corrected: 1 instance, 1 vCPU, 2048 MiB memory in 1 deployment." in out


def test_a_quota_that_errors_leave_open_is_marked(plan, written):
    """A number of instances that is refused is not counted, and the figure is no whole figure."""
    _, out, _ = plan("-f", written(BROKEN.replace("minReplicas: 1", "minReplicas: 0")))

    assert "Quota once corrected: at least 0 instances, 0 vCPU" in out


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
@pytest.mark.parametrize("field", ["metadata: {name: %s}", "metadata: {name: a, namespace: %s}"])
def test_text_of_a_manifest_cannot_move_the_cursor(plan, written, field, output):
    """Control characters are spelled out wherever a manifest can put them."""
    text = BROKEN.replace("metadata: {name: web}", field % r'"\e[31m\x9b2J\L\u202e"')
    text = text.replace("name: home", r'name: "\e[31mhome"')
    _, out, _ = plan("-f", written(text), "-o", output)

    assert set(out).isdisjoint("\x1b\x9b\u2028\u202e")
    assert "[31mhome" in out


def test_a_name_of_a_file_cannot_move_the_cursor(plan):
    """A path is a stranger's text as well."""
    assert plan("-f", "\x1b[31m.yaml") == (
        1,
        "",
        "Error: \\x1b[31m.yaml: cannot be read: No such file or directory\n"
        "Next:  compute plan --help\n",
    )


def test_data_is_ascii_whatever_the_manifest_says(plan, written):
    """Scripts get ASCII, which every encoding has, and can read the names from it."""
    path = written(BROKEN.replace("DWF", "Zürich"))
    _, as_json, _ = plan("-f", path, "-o", "json")
    _, as_yaml, _ = plan("-f", path, "-o", "yaml")

    assert as_json.isascii()
    assert as_yaml.isascii()
    assert json.loads(as_json) == yaml.safe_load(as_yaml)
    assert json.loads(as_json)["workloads"][0]["deployments"][0]["city"] == "Zürich"


def test_stdin_is_read_once(plan):
    """A second dash would find stdin empty, and blame the manifest for it."""
    code, _, err = plan("-f", "-", "-f", "-")

    assert code == 2
    assert (
        err
        == "Error: stdin can be read only once: give `-f -` one time\nNext:  compute plan --help\n"
    )


def test_numbers_that_json_writes_alike_are_alike(plan, written):
    """A count of 2.0 is a count of 2: it is what a server would be sent."""
    text = BROKEN.replace('image: ""', "image: web:1").replace("minReplicas: 1", "minReplicas: 2.0")
    code, out, _ = plan("-f", written(text))

    assert code == 0
    assert "web-home-dwf-0..1" in out


def test_a_list_of_errors_that_was_cut_says_so(plan, written):
    """The output says that there may be more than a hundred errors."""
    ports = ", ".join(f"{{name: p{n}, port: 0}}" for n in range(150))
    path = written(BROKEN.replace('image: ""', f"image: web:1, ports: [{ports}]"))
    _, out, _ = plan("-f", path, "--cities", "DFW")

    assert out.endswith("\n  These are the first 100; there may be more.\n")

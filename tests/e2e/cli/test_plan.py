"""`compute plan`, which needs no server."""

import pytest

from compute.api import names

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MANIFEST = """\
apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata:
  name: web
spec:
  template:
    spec:
      runtime:
        resources: {instanceType: datumcloud/d1-standard-2}
        sandbox:
          containers:
          - {name: app, image: "nginx:1"}
      networkInterfaces:
      - network: {name: default}
  placements:
  - name: home
    cityCodes: [DFW, LHR]
    scaleSettings: {minReplicas: 2}
"""


def test_a_plan_of_files(transcript, compute):
    """What would be created, as a table and as a document; a folder is read as well."""
    folder = compute.home / "plans"
    folder.mkdir(exist_ok=True)
    (folder / "web.yaml").write_text(MANIFEST)

    assert transcript("plan", "-f", "plans").code == 0
    assert transcript("plan", "-f", "-", "--cities", "DFW", text=MANIFEST).code == 1
    assert transcript("plan", "-f", "plans/web.yaml", "-o", "json").code == 0


def test_mistakes(transcript):
    """Each error names the file and the field."""
    assert transcript("plan").code == 2
    assert transcript("plan", "-f", "no-such-file.yaml").code == 1
    assert transcript("plan", "-f", "-", text="a: [").code == 1
    assert (
        transcript(
            "plan", "-f", "-", text=MANIFEST.replace("minReplicas: 2", "minReplicas: 0")
        ).code
        == 1
    )
    long = MANIFEST.replace("name: web", f"name: {'w' * (names.LABEL_LIMIT + 1)}")
    assert transcript("plan", "-f", "-", text=long).code == 1

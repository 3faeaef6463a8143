"""`compute deploy` and `compute diff`, on a running world."""

import json
import re
import signal

import pytest

from compute.api.compute import Workload
from compute.api.networking import Network
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from tests.support.compute.project_objects import (
    BROKEN_IMAGE,
    create,
    delete,
    in_plane,
    kubeconfig_of,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}-settings}}
data: {{LEVEL: info}}
---
apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata:
  name: {name}
spec:
  template:
    spec:
      runtime:
        resources: {{instanceType: datumcloud/d1-standard-2}}
        sandbox:
          containers:
          - name: app
            image: {image}
      networkInterfaces:
      - network: {{name: default}}
  placements:
  - name: home
    cityCodes: [{city}]
    scaleSettings: {{minReplicas: 1}}
"""


def manifest(name: str, image: str = "nginx:1", city: str = "DFW") -> str:
    return MANIFEST.format(name=name, image=image, city=city)


def read(shop, kind, name):
    """The object, or None."""
    return in_plane(shop, lambda client: client.find(kind, name, "default"))


def put(shop, text: str, file: str = "web.yaml") -> str:
    """Write a file into the folder that commands run in."""
    path = shop.home / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return file


def test_a_first_deploy_waits_until_it_runs(shop, name):
    """The plan comes first, then the rollout, and the code is that of its end."""
    done = shop("deploy", name, "--image", "nginx:1", "--city", "DFW,LHR", "--env", "TOKEN=secret")

    assert done.code == 0, done
    assert "Rollout complete in" in done.stderr
    assert f"workload/{name} will be created in project" in done.stderr
    assert "secret" not in done.stdout + done.stderr
    shop("destroy", name, "-y", "--wait")


def test_a_broken_image_ends_it_with_the_cause(shop, name):
    """Waiting does not help, so it does not wait for the timeout."""
    done = shop("deploy", name, "--image", BROKEN_IMAGE, "--city", "DFW")

    assert done.code == 4, done
    assert f"Error: the rollout of {name} failed in DFW" in done.stderr
    shop("destroy", name, "-y", "--wait")


def test_the_story_of_a_workload(shop_transcript, shop, name):
    """Created, changed by what is named alone, compared, unchanged."""
    shop_transcript.replace[name] = "web"
    first = ("--city", "DFW,LHR", "--env", "TOKEN=secret", "--http-port", "8080")

    assert shop_transcript("deploy", name, "--image", "nginx:1", *first, "--detach").code == 0
    again = shop_transcript(
        "deploy",
        name,
        "--image",
        "nginx:2",
        "--city",
        "DFW",
        "--detach",
        "--revision-note",
        "smaller",
    )
    assert again.code == 0
    assert shop_transcript("deploy", name, "--image", "nginx:2", "--city", "dallas").code == 0
    assert shop_transcript("diff", name, "--min", "2", "--env", "TOKEN-", "--exit-code").code == 20
    assert shop_transcript("diff", name, "--city", "DFW", "--exit-code").code == 0
    assert shop_transcript("diff", name, "--label", "tier=front", "-o", "json").code == 0
    assert (
        shop_transcript("deploy", name, "--label", "tier=front", "--detach", "-o", "name").code == 0
    )
    shop("destroy", name, "-y", "--wait")


def test_a_dry_run_changes_nothing(shop_transcript, shop, name):
    """The server checks it, unless only this command shall; the manifest can be saved."""
    shop_transcript.replace[name] = "web"
    flags = ("--image", "nginx:1", "--city", "DFW")

    assert shop_transcript("deploy", name, *flags, "--dry-run").code == 0
    assert shop_transcript("deploy", name, *flags, "--dry-run=client", "--exit-code").code == 20
    assert shop_transcript("deploy", name, *flags, "--diff", "-o", "yaml").code == 0
    assert (
        shop_transcript("deploy", name, *flags, "--dry-run=client", "--save", "-o", "name").code
        == 0
    )
    assert shop("deploy", "-f", f"{name}.yaml", "--dry-run").code == 0
    (shop.home / f"{name}.yaml").write_text("mine")
    assert shop_transcript("deploy", name, *flags, "--save", "--detach").code == 1
    assert read(shop, Workload, name) is None


def test_files_decide_on_everything_they_hold(shop_transcript, shop, name):
    """Several kinds, created or updated in an order that works; without a change nothing is done."""
    shop_transcript.replace[name] = "web"
    put(shop, manifest(name), f"{name}/web.yaml")

    assert shop_transcript("deploy", "-f", name, "--detach").code == 0
    assert shop_transcript("deploy", "-f", name, "--detach").code == 0
    scaled = shop("deploy", name, "--min", "2", "--detach")
    assert scaled.code == 0, scaled
    text = manifest(name, image="nginx:2")
    assert shop_transcript("deploy", "-f", "-", "--detach", text=text).code == 0
    shop("destroy", name, "-y", "--wait")


def test_two_workloads_of_one_file_are_one_document(shop, name):
    """Programs read one value, also where several rollouts were followed."""
    both = manifest(name).split("---\n")[1] + "---\n" + manifest(f"{name}-b").split("---\n")[1]
    done = shop("deploy", "-f", put(shop, both), "-o", "json")

    assert done.code == 0, done
    assert [each["name"] for each in json.loads(done.stdout)] == [name, f"{name}-b"]
    shop("destroy", name, f"{name}-b", "-y", "--wait")


def test_a_refusal_names_its_object_and_those_that_are_written(shop, name):
    """The rest of the file is not written; what was written before stays."""
    stores = (
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {0}}}\nstringData: {{A: '{1}'}}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}}}\nimmutable: true\ndata: {{A: '{1}'}}\n"
    )
    shop("deploy", "-f", put(shop, stores.format(name, 1)))
    done = shop("deploy", "-f", put(shop, stores.format(name, 2)))

    assert done.code == 1, done
    assert done.stderr.splitlines()[-1] == (
        f"Error: configmap/{name}: data: Forbidden: field is immutable when `immutable` is set; "
        f"written before it, and not undone: secret/{name}"
    )


def test_changed_values_need_a_restart(shop, name):
    """A workload that the same files do not replace keeps the old ones; the command is named."""
    text = manifest(name)
    mounted = text.replace("image: nginx:1\n", "image: nginx:1\n            env:\n"
                           "            - name: LEVEL\n              valueFrom: {configMapKeyRef: "
                           f"{{name: {name}-settings, key: LEVEL}}}}\n")  # fmt: skip
    assert shop("deploy", "-f", "-", "--detach", text=mounted).code == 0
    again = shop("deploy", "-f", "-", text=mounted.replace("info", "debug"))

    assert again.code == 0, again
    assert again.stderr.endswith(
        f"configmap/{name}-settings updated\n"
        f"workload/{name} unchanged\n"
        f"{name} keeps the old values of configmap/{name}-settings until: compute restart {name}\n"
    )
    shop("destroy", name, "-y", "--wait")


def test_wrong_files(shop_transcript, shop, name):
    """Each error names the file, the line and the field, and nothing is written."""
    shop_transcript.replace[name] = "web"
    text = manifest(name)
    wrong = (
        ("city.yaml", text.replace("DFW", "DWF")),
        ("field.yaml", text.replace("placements:", "placments:")),
        ("value.yaml", text.replace("minReplicas: 1", "minReplicas: many")),
        ("kind.yaml", text.replace("ConfigMap", "ConfgMap")),
        ("twice.yaml", f"{text}---\n{text}"),
        ("nothing.yaml", "just text\n"),
        ("indent.yaml", "a:\n  b: 1\n c: 2\n"),
    )
    for file, content in wrong:
        put(shop, content, file)
        assert shop_transcript("deploy", "-f", file).code == 1
    assert shop_transcript("deploy", "-f", "missing.yaml").code == 1
    assert read(shop, ConfigMap, f"{name}-settings") is None


def test_mistakes(shop_transcript, shop, name):
    """Each names what can be written instead."""
    shop_transcript.replace[name] = "web"
    new = (name, "--image", "nginx:1")

    assert shop_transcript("deploy", *new).code == 2
    assert shop_transcript("deploy", *new, "--city", "DWF").code == 2
    assert shop_transcript("deploy", *new, "--city", "AMS").code == 2
    assert shop_transcript("deploy", name, "--city", "DFW").code == 2
    assert (
        shop_transcript("deploy", *new, "--city", "DFW", "--instance-type", "d1-standart-2").code
        == 2
    )
    assert shop_transcript("deploy", "a" * 70, "--image", "nginx:1", "--city", "DFW").code == 2
    assert shop_transcript("deploy", *new, "--city", "DFW", "--network", "backend").code == 7
    assert shop_transcript("deploy", *new, "--city", "DFW", "--set", "spec.plcements=[]").code == 2
    assert shop_transcript("deploy", *new, "--city", "DFW", "--env-from-secret", "db").code == 7
    assert shop_transcript("deploy", *new, "--city", "DFW", "--dry-run=maybe").code == 2
    for flag in ("--image=a b", "--label=a b=c", "--env==", "--port=HTTP=80", "--max-unavailable=0",
                 "--configmap=a b:/c", "--image-pull-secret=A", "--placement=A", "--network=A"):  # fmt: skip
        assert shop_transcript("deploy", *new, "--city", "DFW", flag).code == 2
    assert read(shop, Workload, name) is None


def test_a_quota_that_is_too_small(shop, name):
    """A script learns what would fit, and nothing is written; how much is left depends on other tests."""
    done = shop("deploy", name, "--image", "nginx:1", "--city", "DFW", "--min", "30")

    assert done.code == 6, done
    assert re.fullmatch(
        r"Error: the quota is too small: needs 30 instances, \d+ left; try --min \d+; nothing was changed, "
        r"and -y deploys it anyway\nNext:  compute quota\n",
        done.stderr,
    )
    with shop.terminal("deploy", name, "--image", "nginx:1", "--city", "DFW", "--min", "30") as no:
        no.until(r"Some instances will wait for quota\. Apply\? \[y/N\]:")
        no.type("\r")
        assert no.ended() == 0
    assert read(shop, Workload, name) is None


def test_a_missing_network_is_created_with_a_yes(shop, name):
    """Without a terminal, -y is the answer."""
    network = f"{name}-net"
    done = shop("deploy", name, "--image", "nginx:1", "--city", "DFW", "--network", network, "-y")

    assert done.code == 0, done
    assert read(shop, Network, network) is not None
    shop("destroy", name, "-y", "--wait")


def test_its_name_can_be_piped(shop, name):
    """`deploy --detach -o name | compute wait -`; other kinds of a file are not for waiting."""
    done = shop("deploy", "-f", "-", "--detach", "-o", "name", text=manifest(name))

    assert (done.code, done.stdout) == (0, f"workload/{name}\n"), done
    waited = shop("wait", "-", text=done.stdout)
    assert waited.code == 0, waited
    shop("destroy", f"workload/{name}", "-y", "--wait")


def test_variables_of_a_config_map(shop, name):
    """A variable for each key that it has now."""
    create(
        shop,
        ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data={"A": "1", "B": "2"}),
    )
    done = shop(
        "deploy", name, "--image", "nginx:1", "--city", "DFW", "--env-from-configmap", f"{name}:X_",
        "--dry-run",
    )  # fmt: skip

    assert done.code == 0, done
    assert "env: X_A, X_B (values not shown)" in done.stdout


def test_a_user_who_may_not(compute, name):
    """The server says what is missing, and nothing is written."""
    file = kubeconfig_of(compute, name)
    done = compute(
        "deploy", name, "--image", "nginx:1", "--city", "DFW", "--kubeconfig", file, "-o", "name"
    )

    assert done.code == 1, done
    assert done.stdout == ""
    assert done.stderr.startswith("Error: no permission in project demo: ")
    assert done.stderr.endswith(f"\nNext:  compute config view --kubeconfig {file}\n")


def test_a_question_on_a_terminal(shop, name):
    """No is respected, Ctrl-C ends it, and yes applies it."""
    command = ("deploy", name, "--image", "nginx:1", "--city", "DFW")
    with shop.terminal(*command) as no:
        no.until(r"Apply\? \[Y/n\]:")
        no.type("n\r")
        assert no.ended() == 0
        assert "Aborted: nothing was changed." in no.text()
    with shop.terminal(*command) as interrupted:
        interrupted.until(r"Apply\? \[Y/n\]:")
        interrupted.type("\x03")
        assert interrupted.ended() == 130
    assert read(shop, Workload, name) is None
    with shop.terminal(*command) as yes:
        yes.until(r"Apply\? \[Y/n\]:")
        yes.type("\r")
        yes.until("Rollout complete in")
        assert yes.ended() == 0
    shop("destroy", name, "-y", "--wait")


def test_a_missing_network_is_offered_on_a_terminal(shop, name):
    """The question names it."""
    network = f"{name}-net"
    command = (
        "deploy",
        name,
        "--image",
        "nginx:1",
        "--city",
        "DFW",
        "--network",
        network,
        "--detach",
    )
    with shop.terminal(*command) as screen:
        screen.until(rf"Create the network {network}\? \[Y/n\]:")
        screen.type("y\r")
        screen.until(r"Apply\? \[Y/n\]:")
        screen.type("y\r")
        assert screen.ended() == 0
    assert read(shop, Network, network) is not None
    shop("destroy", name, "-y", "--wait")


def test_two_people_who_deploy_at_once(shop, name):
    """A change of other fields is kept. One of the same field stays, and the second is refused with 8."""
    assert shop("deploy", name, "--image", "nginx:1", "--city", "DFW", "--detach").code == 0
    with shop.terminal("deploy", name, "--image", "nginx:2", "--detach") as both:
        both.until(r"Apply\? \[Y/n\]:")
        assert shop("deploy", name, "--label", "tier=front", "--set",
                    "metadata.annotations[owner]=jo", "--detach").code == 0  # fmt: skip
        both.type("y\r")
        both.ended()
    kept = read(shop, Workload, name)
    assert kept is not None
    assert kept.metadata.annotations["owner"] == "jo"
    with shop.terminal("deploy", name, "--image", "nginx:3", "--detach", columns=400) as late:
        late.until(r"Apply\? \[Y/n\]:")
        assert shop("deploy", name, "--image", "nginx:9", "--detach").code == 0
        late.type("y\r")
        assert late.ended() == 8
        assert f"workload/{name} was changed by another user of this command at" in late.text()
        assert "That change stays, and yours was not written" in late.text()
    shop("destroy", name, "-y", "--wait")


def test_a_name_that_is_taken_meanwhile(shop, name):
    """The other workload stays as it is."""
    with shop.terminal("deploy", name, "--image", "nginx:1", "--city", "DFW", columns=400) as late:
        late.until(r"Apply\? \[Y/n\]:")
        assert shop("deploy", name, "--image", "nginx:9", "--city", "LHR", "--detach").code == 0
        late.type("y\r")
        assert late.ended() == 8
        assert f"workload/{name} was created by another user of this command at" in late.text()
        assert "choose another name" in late.text()
    shop("destroy", name, "-y", "--wait")


def test_an_interrupted_wait_leaves_the_rollout_alone(shop, name):
    """It says how to look again; a script gets 130."""
    process = shop.start("deploy", name, "--image", BROKEN_IMAGE, "--city", "DFW")
    assert process.stdout is not None
    assert "PLACEMENT" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()

    assert process.returncode == 130
    assert f"The rollout goes on. Look again with: compute rollout status {name}" in err
    assert read(shop, Workload, name) is not None
    delete(shop, Workload, name)


def test_one_ctrl_c_detaches_from_all_rollouts(shop, name):
    """Those that were not followed yet are named as well."""
    first, second = (manifest(each, "nginx:1", "SIN") for each in (name, f"{name}-b"))
    both = first.split("---\n")[1] + "---\n" + second.split("---\n")[1]
    both = both.replace("minReplicas: 1", "minReplicas: 11")  # more than the quota
    with shop.terminal("deploy", "-y", "-f", put(shop, both)) as terminal:
        terminal.until(r"^Rollout of")
        terminal.type("\x03")
        assert terminal.ended() == 0
        lines = terminal.text().splitlines()
    assert f"The rollout goes on. Look again with: compute rollout status {name}" in lines
    assert f"Not waiting. Look again with: compute rollout status {name}-b" in lines
    shop("destroy", name, f"{name}-b", "-y", "--wait")

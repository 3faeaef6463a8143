"""`compute config` and what goes wrong with a target, as a user sees it."""

import json
from pathlib import Path

import pytest
import yaml

from tests.support.compute.cli_runner import CommandLine

CONTEXTS = (
    "core", "admin-project-demo", "project-demo", "cell-dfw", "cell-lhr", "cell-sin", "hub",
)  # fmt: skip

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def home(world: CommandLine, tmp_path: Path) -> CommandLine:
    """A home of its own, whose settings no other test reads."""
    return CommandLine(tmp_path, world.data)


@pytest.fixture
def compute(home: CommandLine) -> CommandLine:
    """The transcripts of this module are of that home."""
    return home


@pytest.fixture
def kubeconfig(home: CommandLine) -> Path:
    """The kubeconfig of the world, as the one of kubectl."""
    file = home.home / ".kube" / "config"
    file.parent.mkdir()
    config = yaml.safe_load((home.data / "kubeconfig").read_text())
    # Other tests make projects, whose contexts come and go.
    config["contexts"] = [c for c in config["contexts"] if c["name"] in CONTEXTS]
    file.write_text(yaml.safe_dump(config))
    return file


def test_the_target_and_why(transcript):
    """Server, project and namespace with their sources, and what each rule gives."""
    assert transcript("config", "view").code == 0
    assert transcript("config", "--project", "shop", "-n", "team").code == 0


def test_the_target_as_json(transcript):
    """For scripts; the same view as the console will send."""
    done = transcript("config", "view", "-o", "json")
    assert json.loads(done.stdout)["project"] == "demo"


def test_a_choice_of_the_user(transcript, kubeconfig):
    """A context and a project for all commands; the variables that are stronger are named."""
    transcript.replace[str(kubeconfig)] = "KUBECONFIG"
    transcript("config", "use-context", "hub", COMPUTE_DATA="")
    transcript("config", "use-project", "shop", COMPUTE_DATA="")
    transcript("config", "set", "namespace", "team", COMPUTE_DATA="")
    transcript("config", "view", COMPUTE_DATA="")
    transcript("config", "use-context", "local")
    transcript("config", "use-project", "demo", COMPUTE_PROJECT="other")
    transcript("config", "unset", "namespace")


def test_a_context_that_does_not_exist(transcript, kubeconfig):
    """The nearest name, and nothing is written."""
    transcript.replace[str(kubeconfig)] = "KUBECONFIG"
    assert transcript("config", "use-context", "project-dmeo", COMPUTE_DATA="").code == 7
    assert transcript("workloads", "--context", "nope", COMPUTE_DATA="").code == 1
    assert transcript("config", "view", "--context", "nope", COMPUTE_DATA="").code == 1


def test_a_name_that_cannot_be_one(transcript):
    """Before anything is written."""
    assert transcript("config", "use-project", "My Project").code == 2
    assert transcript("config", "set", "color", "red").code == 2
    assert transcript("config", "use-project").code == 2


def test_settings_that_are_damaged(transcript, home):
    """The file is named, so that it can be corrected or deleted."""
    file = home.home / ".config" / "compute" / "config.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"project": ')
    assert transcript("workloads").code == 1
    assert transcript("config", "view").code == 1


def test_no_server_at_all(transcript):
    """The next command starts one."""
    assert transcript("workloads", COMPUTE_DATA="").code == 1
    assert transcript("config", "view", COMPUTE_DATA="").code == 1


def test_a_server_that_is_down(transcript, home):
    """Of the world on this machine, and of another one."""
    stopped = home.home / "stopped"
    stopped.mkdir()
    text = (home.data / "kubeconfig").read_text()
    (stopped / "kubeconfig").write_text(_moved(text))
    assert transcript("workloads", "--data", str(stopped)).code == 5
    assert transcript("workloads", COMPUTE_SERVER="https://127.0.0.1:1").code == 5
    assert transcript("workloads", "-o", "json", COMPUTE_SERVER="https://127.0.0.1:1").code == 5


def _moved(text: str) -> str:
    """The kubeconfig with a port at which no server listens."""
    import re  # noqa: PLC0415 -- one use

    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)


def test_a_token_that_has_expired(transcript, home):
    """The server refuses it; the next command shows where it comes from."""
    server = json.loads((home.data / "up.json").read_text())["url"]
    expired = {
        "COMPUTE_SERVER": server,
        "COMPUTE_CA": str(home.data / "pki" / "ca.crt"),
        "COMPUTE_PROJECT": "demo",
        "COMPUTE_TOKEN": "expired",
    }
    assert transcript("workloads", **expired).code == 1
    assert transcript("workloads", "-o", "json", **expired).code == 1


def test_a_project_that_is_missing(transcript):
    """Its name is wrong, or it is being set up."""
    assert transcript("workloads", "--project", "shpo").code == 7
    plugin = {"DATUM_PLUGIN_API_VERSION": "1", "DATUM_API_HOST": "api.example.test"}
    assert transcript("workloads", **plugin).code == 1


def test_no_permission(transcript, home):
    """A viewer cannot write; the server's reason is shown."""
    file = home.home / "viewer.kubeconfig"
    added = home(
        "plane", "users", "add", "vera", "--project", "demo", "--role", "viewer", "--out", str(file)
    )
    assert added.code == 0, added
    done = transcript("networks", "create", "mine", "--kubeconfig", str(file))
    assert done.code == 1


def test_a_typing_error(transcript):
    """In a command, a subcommand and a flag."""
    assert transcript("wokloads").code == 2
    assert transcript("config", "veiw").code == 2
    assert transcript("config", "view", "--outptu", "json").code == 2
    assert transcript("version", "--clinet").code == 2
    assert transcript("version", "-o", "xml").code == 2
    assert transcript("up", "--deatch").code == 2


def test_the_versions(transcript):
    """Of the command and of the world."""
    transcript("version")
    transcript("version", "--client")
    transcript("version", "-o", "json")

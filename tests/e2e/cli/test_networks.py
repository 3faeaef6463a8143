"""`compute networks`, on a running world."""

import pytest

from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from kubekit.api.meta import ObjectMeta
from tests.support.compute.project_objects import create, create_namespace, kubeconfig_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def namespace(compute, name):
    """A namespace whose networks no other test sees."""
    create_namespace(compute, name)
    return name


def test_a_network_from_its_creation_to_the_list(transcript, namespace):
    """An empty namespace, a network, a second one, and a name that is taken."""
    transcript.replace[namespace] = "back"

    assert transcript("networks", "-n", namespace).code == 0
    assert transcript("networks", "create", "default", "-n", namespace, "--wait").code == 0
    assert (
        transcript("networks", "create", "data", "-n", namespace, "--wait", "-o", "name").code == 0
    )
    assert transcript("networks", "create", "data", "-n", namespace).code == 8
    transcript("networks", "list", "-n", namespace)
    transcript("networks", "list", "-n", namespace, "-o", "wide")
    transcript("networks", "list", "-n", namespace, "-o", "name")


def test_a_network_as_json(transcript, namespace):
    """The view of a network, for scripts."""
    transcript.replace[namespace] = "back"

    transcript("networks", "create", "data", "-n", namespace, "--wait", "-o", "json")


def test_a_network_that_cannot_be_used(transcript, compute, namespace):
    """The list has the reason."""
    transcript.replace[namespace] = "back"
    spec = NetworkSpec(ipam=NetworkIPAM(mode="Auto", ipv4_range="169.254.0.0/16"))
    create(compute, Network(metadata=ObjectMeta(name="odd", namespace=namespace), spec=spec))
    assert compute("networks", "create", "even", "-n", namespace, "--wait").code == 0

    transcript("networks", "-n", namespace)


def test_mistakes(transcript, compute, namespace):
    """Each says what is wrong; nothing is created."""
    transcript.replace[namespace] = "back"
    viewer = kubeconfig_of(compute, namespace)

    assert transcript("networks", "create").code == 2
    assert transcript("networks", "create", "My_Net", "-n", namespace).code == 1
    assert transcript("networks", "create", "data", "-n", "no-such-namespace").code == 7
    assert transcript("networks", "create", "data", "--kubeconfig", viewer).code == 1
    assert transcript("networks", "delete", "data").code == 2
    assert transcript("networks", "create", "-n", namespace, "data", "-o", "table", "--wait",
                      "--timeout", "1us").code == 14  # fmt: skip

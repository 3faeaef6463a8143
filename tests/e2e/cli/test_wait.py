"""`compute wait`, on a running world."""

import signal

import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import NetworkInterface, NetworkRef
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import template
from tests.support.compute.project_objects import BROKEN_IMAGE, create, delete, wanted

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_until_it_is_ready_and_until_it_is_gone(shop_transcript, shop, name):
    """The code of a script follows from the state, and a name may come through a pipe."""
    shop_transcript.replace[name] = "web"
    create(shop, wanted(name, "DFW", "LHR"))

    assert shop_transcript("wait", name).code == 0
    assert (
        shop_transcript(
            "wait", "-", "--for", "updated", "-o", "name", text=f"workload/{name}\n"
        ).code
        == 0
    )
    assert shop_transcript("wait", name, "--for", "condition=Available", "-o", "json").code == 0
    delete(shop, Workload, name)
    assert shop_transcript("wait", name, "--for", "deleted").code == 0
    assert shop_transcript("wait", name, "--for", "deleted").code == 0
    assert shop("wait", name).code == 7


def test_a_failure_ends_it_long_before_the_timeout(shop_transcript, shop, name):
    """An image that does not exist will not exist later. The other workload has its line, too."""
    well = f"{name}-ok"
    shop_transcript.replace[name] = "web"
    create(shop, wanted(name, of=template(BROKEN_IMAGE)))
    create(shop, wanted(well))
    assert shop("wait", well).code == 0

    assert shop_transcript("wait", well, name).code == 4
    assert shop_transcript("wait", name, "--for", "updated", "-o", "jsonl").code == 0
    assert shop_transcript("wait", name, "no-such-workload", "-o", "json").code == 4


def test_a_pause(shop_transcript, shop, name):
    """A workload with a pause is at rest; another never gets there, and the time is over."""
    shop_transcript.replace[name] = "web"
    held = wanted(name)
    create(shop, with_metadata(held, annotations={annotations.PAUSED: "true"}))

    assert shop_transcript("wait", name, "--for", "paused").code == 0
    assert shop_transcript("wait", name, "--for", "condition=Frozen", "--timeout", "1s").code == 14


def test_a_missing_network_blocks_it_until_the_timeout(shop_transcript, shop, name):
    """The network may be created at any time, so it waits, and then says what it waited for."""
    shop_transcript.replace[name] = "web"
    made = template()
    interface = NetworkInterface(network=NetworkRef(name="backend"))
    spec = replace(made.spec, network_interfaces=(interface,))
    create(shop, wanted(name, of=replace(made, spec=spec)))

    assert shop_transcript("wait", name, "--timeout", "2s").code == 6


def test_mistakes(transcript):
    """Each names what can be typed instead."""
    assert transcript("wait").code == 2
    assert transcript("wait", "web", "--for", "readyy").code == 2
    assert transcript("wait", "web", "--for", "condition=").code == 2
    assert transcript("wait", "instance/web-default-dfw-0").code == 2
    assert transcript("wait", "-").code == 2
    assert transcript("wait", "no-such-workload").code == 7
    assert transcript("wait", "web", "--timeout", "soon").code == 2


def test_ctrl_c_is_no_success(shop, name):
    """What comes after `compute wait web &&` must not run."""
    create(shop, wanted(name))
    with shop.terminal("wait", "--for", "condition=Frozen", name) as terminal:
        ready = shop("wait", name)
        terminal.type("\x03")

        assert (ready.code, terminal.ended()) == (0, 130)


def test_an_interrupted_script(shop, name):
    """A signal ends it with 130, without a traceback."""
    create(shop, wanted(name))
    process = shop.start("wait", name, "--for", "condition=Frozen")
    assert shop("wait", name).code == 0
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)

    assert (process.returncode, error) == (130, "\nInterrupted.\n")

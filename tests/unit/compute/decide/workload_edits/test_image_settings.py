"""New images of single containers."""

import pytest
from msgspec.structs import replace

from compute.api.instance_spec import Container, Sandbox, VirtualMachine, VolumeAttachment
from compute.decide.workload_edits.image_settings import UnknownContainer, images, with_images
from tests.support.compute.builders import instance_spec, template, workload


def of(*containers):
    """A Workload with containers of these names, all of one image."""
    spec = instance_spec()
    sandbox = Sandbox(
        containers=tuple(Container(name=name, image="old:1") for name in containers),
    )
    runtime = replace(spec.runtime, sandbox=sandbox)
    return workload(template=replace(template(), spec=replace(spec, runtime=runtime)))


def machine():
    spec = instance_spec()
    booted = VirtualMachine(volume_attachments=(VolumeAttachment(name="boot"),))
    runtime = replace(spec.runtime, sandbox=None, virtual_machine=booted)
    return workload(template=replace(template(), spec=replace(spec, runtime=runtime)))


def test_a_named_container_gets_the_image():
    """The others keep theirs."""
    assert images(with_images(of("app", "proxy"), {"proxy": "new:2"})) == {
        "app": "old:1",
        "proxy": "new:2",
    }


@pytest.mark.parametrize(("names", "meant"), [(("web",), "web"), (("proxy", "app"), "app")])
def test_the_container_that_is_meant_without_a_name(names, meant):
    """The only one, or the one that deploy calls app."""
    assert images(with_images(of(*names), {"": "new:2"}))[meant] == "new:2"


def test_the_same_image_is_no_change():
    """The very same object: nothing is to be written."""
    known = of("app")

    assert with_images(known, {"app": "old:1"}) is known


@pytest.mark.parametrize(
    ("of_workload", "name", "known"),
    [
        (of("web", "proxy"), "", ("web", "proxy")),
        (of("app"), "ap", ("app",)),
        (machine(), "", ()),
    ],
)
def test_a_container_that_is_not_there(of_workload, name, known):
    """The error has the names of those that are."""
    with pytest.raises(UnknownContainer) as error:
        with_images(of_workload, {name: "new:2"})

    assert (error.value.container, error.value.known) == (name, known)

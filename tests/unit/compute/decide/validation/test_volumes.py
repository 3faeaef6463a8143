"""Volumes, disks, and how they are attached."""

import pytest

from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import blamed, disk, errors_of, machine, sandbox

SPEC = "spec/template/spec"
CONTAINER = f"{SPEC}/runtime/sandbox/containers/0"
ATTACHED_PATH = "spec.template.spec.runtime.sandbox.containers[0].volumeAttachments"
MACHINE_PATH = "spec.template.spec.runtime.virtualMachine.volumeAttachments"
IMAGE = {"image": {"name": "datumcloud/ubuntu-2204-lts"}}
EMPTY = {"filesystem": {"type": "ext4"}}


def stored(*volumes, paths=None):
    """A container that sees these volumes, each at a path of its own unless ``paths`` says where."""
    mounts = paths or [f"/mnt/{position}" for position in range(len(volumes))]
    attachments = [
        {"name": volume["name"], "mountPath": path}
        for volume, path in zip(volumes, mounts, strict=True)
    ]
    return sandbox(
        {f"{SPEC}/volumes": list(volumes), f"{CONTAINER}/volumeAttachments": attachments}
    )


def volume_errors(*volumes):
    """The errors of some volumes, by their path within the list."""
    prefix = "spec.template.spec.volumes"
    return [(path.removeprefix(prefix), what) for path, what in blamed(stored(*volumes))]


def disk_errors(spec):
    """The errors of a disk, by their path within its spec."""
    prefix = "[0].disk.template.spec."
    volume = {"name": "data", "disk": {"template": {"spec": spec}}}
    return [(path.removeprefix(prefix), what) for path, what in volume_errors(volume)]


def conf(name="conf"):
    return {"name": name, "configMap": {"name": "settings"}}


def test_every_source_is_right():
    """A disk, a ConfigMap and a Secret can each be a volume."""
    volumes = (
        conf(),
        {"name": "keys", "secret": {"secretName": "keys"}},
        {"name": "data", "disk": disk("10Gi", populator=EMPTY)},
    )
    assert errors_of(stored(*volumes)) == []


def test_volume_names_are_unique_labels():
    """Attachments find a volume by its name."""
    assert volume_errors(conf("a"), conf("A_b"), conf("a")) == [
        ("[1].name", Problem.INVALID),
        ("[2].name", Problem.DUPLICATE),
    ]


def test_a_volume_has_a_source():
    """A volume of nothing cannot be attached."""
    assert volume_errors({"name": "a"}) == [("[0]", Problem.REQUIRED)]


def test_a_volume_has_only_one_source():
    """Each source beyond the first is refused by its own path."""
    volume = conf() | {
        "disk": disk("10Gi", populator=EMPTY),
        "secret": {"secretName": "keys"},
    }
    assert volume_errors(volume) == [
        ("[0].configMap", Problem.FORBIDDEN),
        ("[0].secret", Problem.FORBIDDEN),
    ]


def test_a_volume_is_attached():
    """A volume that nothing uses is a mistake, in a sandbox or a machine."""
    got = blamed(machine({f"{SPEC}/runtime/virtualMachine/volumeAttachments": [{"name": "root"}]}))

    assert got == [("spec.template.spec.volumes[1]", Problem.REQUIRED)]
    assert blamed(sandbox({f"{SPEC}/volumes": [conf()]})) == [
        ("spec.template.spec.volumes[0]", Problem.REQUIRED)
    ]


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (["a", "b", None], []),
        (["a", "a", None], [1]),
        (["a", "a", "a"], [1, 2]),
        ([None, "persistent-disk-0", None], [1]),
        (["persistent-disk-2", None, None], [0]),
        (["persistent-disk-0", None, None], []),
    ],
    ids=repr,
)
def test_device_names_are_unique(devices, expected):
    """A chosen name is no other's, chosen or given by position."""
    volumes = [
        {
            "name": f"d{position}",
            "disk": disk("10Gi", populator=EMPTY) | ({"deviceName": name} if name else {}),
        }
        for position, name in enumerate(devices)
    ]
    assert volume_errors(*volumes) == [
        (f"[{position}].disk.deviceName", Problem.DUPLICATE) for position in expected
    ]


def test_every_volume_holds_the_device_name_of_its_position():
    """A volume without a device still keeps the name free, so adding a disk renames none."""
    chosen = disk("10Gi", populator=EMPTY) | {"deviceName": "persistent-disk-0"}
    volume = {"name": "d", "disk": chosen}

    assert volume_errors(conf(), volume) == [("[1].disk.deviceName", Problem.DUPLICATE)]


@pytest.mark.parametrize("name", ["", "a b", "/dev/sda", "d" * 64])
def test_a_device_name_is_a_plain_word(name):
    """It becomes the name of a file in the machine."""
    volume = {"name": "d", "disk": disk("10Gi", populator=EMPTY) | {"deviceName": name}}

    assert volume_errors(volume) == [("[0].disk.deviceName", Problem.INVALID)]


@pytest.mark.parametrize(
    ("size", "right"),
    [
        ("10Gi", True),
        ("100Gi", True),
        ("10240Mi", True),
        (10 * 2**30, True),
        ("9Gi", False),
        ("101Gi", False),
        ("10.5Gi", False),
        ("20G", False),
        ("-10Gi", False),
        ("0", False),
        ("large", False),
    ],
)
def test_trap17_a_disk_has_a_size_in_whole_gibibytes(size, right):
    """From 10Gi to 100Gi, however it is spelled."""
    spec = {"populator": EMPTY, "resources": {"requests": {"storage": size}}}
    expected = [] if right else [("resources.requests[storage]", Problem.INVALID)]

    assert disk_errors(spec) == expected


@pytest.mark.parametrize(
    ("size", "right"), [(None, True), ("25Gi", True), ("30Gi", True), ("24Gi", False)]
)
def test_a_disk_with_an_image_has_room_for_it(size, right):
    """The image needs 25Gi, which is also the size when none is given."""
    resources = {"resources": {"requests": {"storage": size}}} if size else {}
    expected = [] if right else [("resources.requests[storage]", Problem.INVALID)]

    assert disk_errors({"populator": IMAGE} | resources) == expected


def test_a_disk_without_an_image_needs_a_size():
    """Nothing else says how large it is to be."""
    missing = [("resources.requests[storage]", Problem.REQUIRED)]

    assert disk_errors({"populator": EMPTY}) == missing
    assert disk_errors({"populator": EMPTY, "resources": {}}) == missing


def test_a_disk_has_no_other_resources():
    """A disk cannot be asked for processors."""
    requests = {"storage": "10Gi", "cpu": "1"}

    assert disk_errors({"populator": EMPTY, "resources": {"requests": requests}}) == [
        ("resources.requests[cpu]", Problem.NOT_SUPPORTED)
    ]


def test_a_disk_is_of_a_known_class():
    """There is one class of disk."""
    spec = {"type": "pd-ssd", "populator": IMAGE}

    assert disk_errors(spec) == [("type", Problem.NOT_SUPPORTED)]


@pytest.mark.parametrize(
    ("populator", "path", "problem"),
    [
        ({}, "populator", Problem.REQUIRED),
        (IMAGE | EMPTY, "populator", Problem.FORBIDDEN),
        ({"image": {"name": "debian"}}, "populator.image.name", Problem.NOT_SUPPORTED),
        ({"filesystem": {"type": "xfs"}}, "populator.filesystem.type", Problem.NOT_SUPPORTED),
    ],
    ids=["none", "both", "image", "filesystem"],
)
def test_trap16_a_disk_has_one_known_populator(populator, path, problem):
    """An image and a file system together are refused, and the path is the populator's own."""
    spec = {"populator": populator, "resources": {"requests": {"storage": "30Gi"}}}

    assert disk_errors(spec) == [(path, problem)]


def test_labels_of_a_disk_are_checked():
    """What the template of a disk gives to the disk follows the rules of labels too."""
    template = disk("10Gi", populator=EMPTY)["template"]
    metadata = {"labels": {"a": "b c"}, "annotations": {"compute.datumapis.com/ssh-keys": "x"}}
    volume = {"name": "d", "disk": {"template": template | {"metadata": metadata}}}

    assert volume_errors(volume) == [
        ("[0].disk.template.metadata.labels[a]", Problem.INVALID),
        (
            "[0].disk.template.metadata.annotations[compute.datumapis.com/ssh-keys]",
            Problem.FORBIDDEN,
        ),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"name": "a.b", "defaultMode": 0}, []),
        ({"name": "a", "defaultMode": 511}, []),
        ({}, [("name", Problem.REQUIRED)]),
        ({"name": "A"}, [("name", Problem.INVALID)]),
        ({"name": "a", "defaultMode": 512}, [("defaultMode", Problem.INVALID)]),
        ({"name": "a", "defaultMode": -1}, [("defaultMode", Problem.INVALID)]),
        ({"name": "a", "items": [{"key": "k", "path": "p"}]}, [("items", Problem.FORBIDDEN)]),
    ],
    ids=repr,
)
def test_a_config_map_is_named_and_taken_whole(source, expected):
    """A ConfigMap has a name and modes that exist; single keys cannot be chosen."""
    got = volume_errors({"name": "conf", "configMap": source})

    assert got == [(f"[0].configMap.{path}", problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"secretName": "a", "items": [{"key": "k", "path": "d/p", "mode": 256}]}, []),
        ({}, [("secretName", Problem.REQUIRED)]),
        ({"secretName": "a", "defaultMode": 512}, [("defaultMode", Problem.INVALID)]),
        (
            {"secretName": "a", "items": [{"key": "", "path": ""}]},
            [("items[0].key", Problem.REQUIRED), ("items[0].path", Problem.REQUIRED)],
        ),
        (
            {"secretName": "a", "items": [{"key": "k", "path": "/p"}]},
            [("items[0].path", Problem.INVALID)],
        ),
        (
            {"secretName": "a", "items": [{"key": "k", "path": "a/../../p", "mode": 512}]},
            [("items[0].path", Problem.INVALID), ("items[0].mode", Problem.INVALID)],
        ),
    ],
    ids=repr,
)
def test_a_secret_is_named_and_stays_in_its_folder(source, expected):
    """A Secret has a name, and its keys become files within the volume."""
    got = volume_errors({"name": "keys", "secret": source})

    assert got == [(f"[0].secret.{path}", problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cnof", 'did you mean "conf"?'),
        ("something-else", "add it there"),
    ],
)
def test_an_attached_volume_exists(name, text):
    """An attachment of nothing is refused, with the volume that was probably meant."""
    attachments = [{"name": "conf"}, {"name": name}]
    got = errors_of(
        sandbox({f"{SPEC}/volumes": [conf()], f"{CONTAINER}/volumeAttachments": attachments})
    )

    assert got == [
        f'{ATTACHED_PATH}[1].name: Not found: "{name}": '
        f"no volume of this name is in spec.template.spec.volumes; {text}"
    ]


def test_a_missing_volume_does_not_hide_a_wrong_path():
    """Both mistakes of one attachment are reported at once."""
    attachment = {"name": "nothing", "mountPath": "etc"}
    got = blamed(sandbox({f"{CONTAINER}/volumeAttachments": [attachment]}))

    assert got == [
        (f"{ATTACHED_PATH}[0].name", Problem.NOT_FOUND),
        (f"{ATTACHED_PATH}[0].mountPath", Problem.INVALID),
    ]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/etc/app", None),
        ("/etc/..app", None),
        ("", Problem.REQUIRED),
        ("etc/app", Problem.INVALID),
        ("/etc/../app", Problem.INVALID),
        ("/", Problem.INVALID),
        ("//.", Problem.INVALID),
    ],
)
def test_a_volume_is_mounted_at_an_absolute_path(path, problem):
    """A path starts at the root, goes only down, and is not the root."""
    got = blamed(stored(conf(), paths=[path]))

    assert got == ([(f"{ATTACHED_PATH}[0].mountPath", problem)] if problem else [])


def test_two_volumes_are_not_mounted_at_one_path():
    """Two spellings of one path are one path."""
    got = blamed(stored(conf("a"), conf("b"), conf("c"), paths=["/x", "/x/./", "/y"]))

    assert got == [(f"{ATTACHED_PATH}[1].mountPath", Problem.DUPLICATE)]


def test_a_bare_disk_is_not_mounted():
    """A disk with nothing on it can be attached as a device, not mounted."""
    bare = {"name": "data", "disk": disk("10Gi")}

    assert blamed(stored(bare)) == [(f"{ATTACHED_PATH}[0].mountPath", Problem.FORBIDDEN)]
    attachments = f"{CONTAINER}/volumeAttachments"
    assert errors_of(sandbox({f"{SPEC}/volumes": [bare], attachments: [{"name": "data"}]})) == []


def test_a_machine_has_a_disk_to_boot_from():
    """A machine without volumes has nothing to start."""
    got = blamed(
        machine({f"{SPEC}/runtime/virtualMachine/volumeAttachments": [], f"{SPEC}/volumes": []})
    )

    assert got == [(MACHINE_PATH, Problem.REQUIRED)]


@pytest.mark.parametrize(
    ("first", "problem"), [("data", Problem.INVALID), ("nothing", Problem.NOT_FOUND)]
)
def test_a_machine_boots_from_its_first_volume(first, problem):
    """The first volume is a disk filled from an image; one that is absent is only absent."""
    attachments = [{"name": first}, {"name": "root"}, {"name": "data"}]
    got = blamed(machine({f"{SPEC}/runtime/virtualMachine/volumeAttachments": attachments}))

    assert got == [(f"{MACHINE_PATH}[0].name", problem)]


def test_a_machine_does_not_boot_from_files():
    """A ConfigMap is no disk."""
    got = blamed(machine({f"{SPEC}/volumes/0": conf("root")}))

    assert got == [(f"{MACHINE_PATH}[0].name", Problem.INVALID)]

"""What the options of `deploy` and `diff` mean.

What does not need a server is checked here: forms of values, and options that exclude each other. Each
error names the option and what to write instead.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import click

from compute.cli.deploy.deploy_command import TAIL
from compute.decide.workload.revision_note import LONGEST
from compute.decide.workload_edits import DeployFlags, FlagError
from compute.decide.workload_edits.deploy_flags import (
    HTTP,
    EnvironmentSource,
    FileSource,
    PortEdit,
    assignment,
    environment_source,
    file_source,
    instance_type,
    name_or_removal,
    port,
)
from compute.decide.workload_edits.staging import CITY_ORDER, PAUSE_AFTER, StagingFlags

Options = Mapping[str, Any]

_CONTAINER: Final = "spec.template.spec.runtime.sandbox.containers"
_SCALE: Final = "spec.placements[].scaleSettings"
# What excludes -f: the parameter, its flag, and the field of the manifest that says the same.
_FIELDS: Final = (
    ("name", "NAME", "metadata.name"),
    ("image", "--image", f"{_CONTAINER}[].image"),
    ("container", "--container", f"{_CONTAINER}[].name"),
    ("command", "--command", f"{_CONTAINER}[].command"),
    ("args", "--args", f"{_CONTAINER}[].args"),
    ("env", "--env", f"{_CONTAINER}[].env"),
    ("env_from_configmap", "--env-from-configmap", f"{_CONTAINER}[].env[].valueFrom"),
    ("env_from_secret", "--env-from-secret", f"{_CONTAINER}[].env[].valueFrom"),
    ("ports", "--port", f"{_CONTAINER}[].ports"),
    ("http_port", "--http-port", f"{_CONTAINER}[].ports"),
    ("no_http", "--no-http", f"{_CONTAINER}[].ports"),
    ("configmap", "--configmap", "spec.template.spec.volumes"),
    ("secret", "--secret", "spec.template.spec.volumes"),
    ("label", "--label", "metadata.labels"),
    ("image_pull_secret", "--image-pull-secret", "spec.template.spec.runtime.sandbox.imagePullSecrets"),
    ("instance_type", "--instance-type", "spec.template.spec.runtime.resources.instanceType"),
    ("network", "--network", "spec.template.spec.networkInterfaces"),
    ("placement", "--placement", "spec.placements[].name"),
    ("cities", "--city", "spec.placements[].cityCodes"),
    ("location_selector", "--location-selector", "spec.placements[].cityCodes"),
    ("minimum", "--min", f"{_SCALE}.minReplicas"),
    ("maximum", "--max", f"{_SCALE}.maxReplicas"),
    ("cpu_percent", "--cpu-percent", f"{_SCALE}.metrics"),
    ("strategy", "--strategy", f"{_SCALE}.instanceManagementPolicy"),
    ("max_unavailable", "--max-unavailable", "metadata.annotations"),
    ("settings", "--set", "the field itself"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeployInputs:
    """What to deploy: files, or a name with flags. Cities are as the user wrote them."""

    files: tuple[str, ...] = ()
    name: str = ""
    flags: DeployFlags = field(default_factory=DeployFlags)
    location_selector: str = ""
    note: str = ""
    publishes_nothing: bool = False  # the user asked for a port of HTTP
    staging: StagingFlags | None = None


OPTIONS: Final = frozenset(
    {
        "build",
        "runtime_class",
        "memory_percent",
        "revision_note",
        "files",
        "pause_after",
        "city_order",
        *(f[0] for f in _FIELDS),
    }
)
"""The names of the parameters that become inputs."""


def read_inputs(options: Options) -> DeployInputs:
    """The meaning of the options, as click has parsed them."""
    _refuse_foreign(options)
    note = _note(options["revision_note"])
    staging = _staging(options)
    if options["files"]:
        _refuse_beside_files(options)
        return DeployInputs(files=options["files"], note=note, staging=staging)
    if not options["name"]:
        hint = "give NAME with --image and --city, or -f FILE"
        raise click.UsageError(f"there is nothing to deploy: {hint}")
    if options["location_selector"] and options["cities"]:
        raise click.UsageError("--location-selector and --city both choose cities; give one")
    try:
        flags = _flags(options)
    except FlagError as error:
        raise click.UsageError(str(error)) from error
    return DeployInputs(
        name=options["name"].removeprefix("workload/"),
        flags=flags,
        location_selector=options["location_selector"] or "",
        note=note,
        publishes_nothing=options["http_port"] is not None,
        staging=staging,
    )


def _flags(options: Options) -> DeployFlags:
    return DeployFlags(
        image=options["image"],
        container=options["container"] or "",
        command=_words("--command", options["command"]),
        args=_arguments(options),
        env=tuple(assignment("--env", text) for text in options["env"]),
        env_from=tuple(_env_from(options)),
        ports=tuple(_ports(options)),
        files=tuple(_file_sources(options)),
        labels=tuple(assignment("--label", text) for text in options["label"]),
        image_pull_secrets=tuple(
            name_or_removal("--image-pull-secret", text) for text in options["image_pull_secret"]
        ),
        instance_type=options["instance_type"] and instance_type(options["instance_type"]),
        network=options["network"],
        placement=options["placement"] or "",
        cities=_codes(options["cities"]),
        minimum=options["minimum"],
        maximum=options["maximum"],
        cpu_percent=options["cpu_percent"],
        strategy=options["strategy"],
        max_unavailable=options["max_unavailable"],
        settings=tuple(assignment("--set", text) for text in options["settings"]),
    )


def _refuse_foreign(options: Options) -> None:
    """Refuse flags of the original that cannot do here what they did there."""
    if options["build"] is not None:
        raise click.UsageError(
            "--build: this command builds no images; build and push one, then name it with --image"
        )
    if options["runtime_class"] is not None:
        raise click.UsageError(
            "--runtime-class: the platform has one runtime for all instances; leave it out"
        )
    if options["memory_percent"]:
        raise click.UsageError(
            "--memory-percent: instances are scaled by cpu only; use --cpu-percent"
        )


def _refuse_beside_files(options: Options) -> None:
    for key, flag, path in _FIELDS:
        if options[key] is not None and options[key] != () and options[key] is not False:
            raise click.UsageError(f"{flag} and -f exclude each other; set {path} in the manifest")
    if _tail():
        raise click.UsageError(
            f"arguments after -- and -f exclude each other; set {_CONTAINER}[].args in the manifest"
        )
    if options["files"].count("-") > 1:
        raise click.UsageError("stdin can be read only once: give `-f -` one time")


def _staging(options: Options) -> StagingFlags | None:
    order = [code.strip().upper() for text in options["city_order"] for code in text.split(",")]
    if not all(order):
        raise click.UsageError(f"{CITY_ORDER}: a city code is empty")
    if options["pause_after"] is None:
        if order:
            raise click.UsageError(f"{CITY_ORDER}: it is for {PAUSE_AFTER}; give both")
        return None
    if options["pause_after"] < 1:
        raise click.UsageError(
            f"{PAUSE_AFTER}: give 1 or more cities; to hold a change back everywhere, pause the "
            "workload first with `compute rollout pause`"
        )
    return StagingFlags(options["pause_after"], tuple(dict.fromkeys(order)))


def _note(text: str | None) -> str:
    if text is not None and not text.strip():
        raise click.UsageError("--revision-note: the note is empty")
    if text and len(text) > LONGEST:
        raise click.UsageError(f"--revision-note: at most {LONGEST} characters fit")
    return (text or "").strip()


def _words(flag: str, text: str | None) -> tuple[str, ...] | None:
    """The words of a text as a shell reads them."""
    if text is None:
        return None
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise FlagError(flag, f"cannot be split into words: {str(error).lower()}") from error


def _arguments(options: Options) -> tuple[str, ...] | None:
    tail = _tail()
    if tail and options["args"] is not None:
        raise FlagError("--args", "there are arguments after -- too; give one of the two")
    return tail or _words("--args", options["args"])


def _tail() -> tuple[str, ...]:
    context = click.get_current_context(silent=True)
    return context.meta.get(TAIL, ()) if context else ()


def _env_from(options: Options) -> list[EnvironmentSource]:
    maps, secrets = options["env_from_configmap"], options["env_from_secret"]
    return [
        *(environment_source("--env-from-configmap", "ConfigMap", text) for text in maps),
        *(environment_source("--env-from-secret", "Secret", text) for text in secrets),
    ]


def _file_sources(options: Options) -> list[FileSource]:
    return [
        *(file_source("--configmap", "ConfigMap", text) for text in options["configmap"]),
        *(file_source("--secret", "Secret", text) for text in options["secret"]),
    ]


def _ports(options: Options) -> list[PortEdit]:
    """The ports: the first without a name is that of HTTP, as in the original."""
    if options["http_port"] is not None and options["no_http"]:
        raise FlagError("--no-http", "--http-port asks for the opposite; give one of the two")
    edits: list[PortEdit] = []
    if options["http_port"] is not None:
        edits.append(port("--http-port", f"{HTTP}={options['http_port']}"))
    if options["no_http"]:
        edits.append(PortEdit(HTTP))
    for text in options["ports"]:
        edit = port("--port", text)
        if any(edit.name == other.name for other in edits):
            problem = f"two ports are named {edit.name}; give each a name, such as admin=8081"
            raise FlagError("--port", problem)
        edits.append(edit)
    return edits


def _codes(texts: Sequence[str]) -> tuple[str, ...] | None:
    if not texts:
        return None
    codes = [code.strip() for text in texts for code in text.split(",")]
    if not all(codes):
        raise FlagError("--city", "a city code is empty")
    return tuple(dict.fromkeys(codes))

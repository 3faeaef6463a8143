"""The flags of a deploy as values, and the texts that they are written in."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from compute.decide.validation.grammar import nearest
from compute.decide.validation.runtime import INSTANCE_TYPES
from kubekit.api import digits

HTTP: Final = "http"
DEFAULT_INSTANCE_TYPE: Final = INSTANCE_TYPES[0]
_LAST_PORT: Final = 65535
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")

SourceKind = Literal["ConfigMap", "Secret"]


class FlagError(ValueError):
    """A flag that cannot be used as it is given. ``flag`` is its name; the problem says what would be."""

    def __init__(self, flag: str, problem: str) -> None:
        super().__init__(f"{flag}: {problem}")
        self.flag = flag
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Assignment:
    """``KEY=VALUE``, or ``KEY-``, which removes the key."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class PortEdit:
    """A port to add or to change; without a number it is removed."""

    name: str
    number: int | None = None
    protocol: str = "TCP"


@dataclass(frozen=True, slots=True)
class EnvironmentSource:
    """All keys of a ConfigMap or Secret as variables; with ``removed``, none of them any more."""

    kind: SourceKind
    name: str
    prefix: str = ""
    keys: tuple[str, ...] = ()
    removed: bool = False


@dataclass(frozen=True, slots=True)
class FileSource:
    """The keys of a ConfigMap or Secret as files below a path; without a path they are removed."""

    kind: SourceKind
    name: str
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployFlags:
    """What a deploy asks for. None and an empty tuple mean that a flag is not given."""

    image: str | None = None
    container: str = ""
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Assignment, ...] = ()
    env_from: tuple[EnvironmentSource, ...] = ()
    ports: tuple[PortEdit, ...] = ()
    files: tuple[FileSource, ...] = ()
    labels: tuple[Assignment, ...] = ()
    image_pull_secrets: tuple[Assignment, ...] = ()
    instance_type: str | None = None
    network: str | None = None
    placement: str = ""
    cities: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None  # 0 turns scaling by load off
    cpu_percent: int | None = None  # as `maximum`
    strategy: str | None = None
    max_unavailable: str | None = None  # an empty text removes it
    settings: tuple[Assignment, ...] = ()

    @property
    def edits_container(self) -> bool:
        """Whether a flag is about a container."""
        edits = (self.env, self.env_from, self.ports, self.files)
        texts = (self.image, self.command, self.args)
        return any(edits) or any(text is not None for text in texts)

    @property
    def edits_placement(self) -> bool:
        """Whether a flag is about a placement."""
        edits = (self.cities, self.minimum, self.maximum, self.cpu_percent, self.strategy)
        return any(edit is not None for edit in edits)


def assignment(flag: str, text: str) -> Assignment:
    """The assignment in a text such as ``KEY=VALUE`` or ``KEY-``. It may be a secret, so no error repeats it."""
    key, equals, value = text.partition("=")
    if equals and key:
        return Assignment(key, value)
    if not equals and text.removesuffix("-") not in {"", text}:
        return Assignment(text[:-1], None)
    problem = "the key is empty" if text.startswith("=") or not text else "there is no '=' in it"
    raise FlagError(flag, f"{problem}; write KEY=VALUE, or KEY- to remove the key")


def name_or_removal(flag: str, text: str) -> Assignment:
    """A name to add, or ``NAME-``, which removes it."""
    name = text.removesuffix("-")
    if not name:
        raise FlagError(flag, "the name is empty")
    return Assignment(name, "" if name == text else None)


def port(flag: str, text: str, default_name: str = HTTP) -> PortEdit:
    """The port in a text such as ``8080``, ``metrics=9090``, ``dns=53/UDP``, or ``metrics-``."""
    name, equals, rest = text.rpartition("=")
    if not equals and text.endswith("-") and text != "-":
        return PortEdit(text[:-1])
    number, _, protocol = rest.partition("/")
    protocol = (protocol or "TCP").upper()
    is_number = digits.only(number) and len(number) <= len(str(_LAST_PORT))
    if not is_number or not 1 <= int(number) <= _LAST_PORT:
        raise FlagError(flag, f"{_quoted(text)} is no port from 1 to {_LAST_PORT}; {_PORT_FORMS}")
    if protocol not in _PROTOCOLS:
        raise FlagError(flag, f"{_quoted(protocol)} is none of {', '.join(_PROTOCOLS)}")
    return PortEdit(name or default_name, int(number), protocol)


def environment_source(flag: str, kind: SourceKind, text: str) -> EnvironmentSource:
    """The source in a text such as ``settings``, ``settings:APP_`` or ``settings-``."""
    name, _, prefix = text.partition(":")
    chosen = name_or_removal(flag, name)
    return EnvironmentSource(kind, chosen.key, prefix, removed=chosen.value is None)


def file_source(flag: str, kind: SourceKind, text: str) -> FileSource:
    """The source in a text such as ``settings:/etc/app`` or ``settings-``."""
    name, colon, path = text.partition(":")
    if not colon and name.removesuffix("-") not in {"", name}:
        return FileSource(kind, name[:-1], None)
    if not name or not path.startswith("/"):
        form = "NAME:/PATH, nor NAME-, which removes the files"
        raise FlagError(flag, f"{_quoted(text)} is neither {form}")
    return FileSource(kind, name, path)


def instance_type(text: str, known: Collection[str] = INSTANCE_TYPES) -> str:
    """The type as servers spell it: ``d1-standard-2`` is ``datumcloud/d1-standard-2``."""
    spellings = {spelling: each for each in known for spelling in _spellings(each)}
    if text in spellings:
        return spellings[text]
    near = nearest(text, spellings)
    hint = f"; did you mean {spellings[near]}?" if near else ""
    problem = f"there is no instance type {_quoted(text)}, only {', '.join(known)}{hint}"
    raise FlagError("--instance-type", problem)


def _spellings(name: str) -> Iterable[str]:
    return name, name.replace("/", "-"), name.rpartition("/")[2]


def _quoted(text: str) -> str:
    return f'"{text}"'


_PORT_FORMS: Final = "write 8080, metrics=9090, dns=53/UDP, or metrics- to remove it"

"""Which Workloads use the values of a ConfigMap or Secret, and which keep old ones until a restart.

An Instance reads its values when it starts: variables from single keys, volumes from all of them or from
those they list. A Secret with which images are pulled is read again for each pull.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate, Volume
from compute.decide.overrides import CityTemplates
from compute.decide.overrides.annotated import cities_of
from compute.decide.stored_values import Store
from kubekit.api.kinds.core import Secret
from kubekit.api.kinds.value_sources import EnvVarSource, KeySelector


class UseKind(StrEnum):
    """How a template uses a value."""

    VARIABLE = "variable"
    FILES = "files"
    IMAGE_PULL = "image pull"


@dataclass(frozen=True, slots=True)
class ValueReference:
    """A reference of a template to one key, or to all keys if ``keys`` is None."""

    name: str
    use: UseKind
    keys: frozenset[str] | None = None

    def reads(self, changed: Collection[str]) -> bool:
        """Whether a running Instance has read one of these keys."""
        if self.use is UseKind.IMAGE_PULL:
            return False
        return self.keys is None or bool(self.keys.intersection(changed))


@dataclass(frozen=True, slots=True)
class StoreUser:
    """A Workload that uses the object, and how."""

    workload: str
    uses: tuple[UseKind, ...]
    needs_restart: bool


def users(
    kind: type[Store], name: str, workloads: Iterable[Workload], changed: Collection[str] = ()
) -> tuple[StoreUser, ...]:
    """The Workloads that use the object of this name, by name; ``changed`` are the keys that changed."""
    found = []
    for workload in sorted(workloads, key=lambda each: each.metadata.name):
        own = [each for each in references(kind, workload) if each.name == name]
        if own:
            uses = tuple(dict.fromkeys(each.use for each in own))
            needs_restart = bool(changed) and any(each.reads(changed) for each in own)
            found.append(StoreUser(workload.metadata.name, uses, needs_restart))
    return tuple(found)


def references(kind: type[Store], workload: Workload) -> Iterator[ValueReference]:
    """The references of a Workload, those of cities that are pinned to another template included."""
    templates = CityTemplates(workload)
    pins = (templates.pin(city) for city in cities_of(workload))
    for template in (workload.spec.template, *(pin.template for pin in pins if pin)):
        yield from _of_template(kind, template)


def _of_template(kind: type[Store], template: InstanceTemplate) -> Iterator[ValueReference]:
    sandbox = template.spec.runtime.sandbox
    for container in sandbox.containers if sandbox else ():
        for variable in container.env:
            selector = _selector(kind, variable.value_from)
            if selector is not None:
                keys = frozenset({selector.key})
                yield ValueReference(selector.name, UseKind.VARIABLE, keys)
    for volume in template.spec.volumes:
        yield from _of_volume(kind, volume)
    for ref in sandbox.image_pull_secrets if sandbox and kind is Secret else ():
        yield ValueReference(ref.name, UseKind.IMAGE_PULL)


def _selector(kind: type[Store], source: EnvVarSource | None) -> KeySelector | None:
    if source is None:
        return None
    return source.secret_key_ref if kind is Secret else source.config_map_key_ref


def _of_volume(kind: type[Store], volume: Volume) -> Iterator[ValueReference]:
    if kind is Secret and volume.secret is not None:
        items = volume.secret.items
        name = volume.secret.secret_name
    elif kind is not Secret and volume.config_map is not None:
        items = volume.config_map.items
        name = volume.config_map.name
    else:
        return
    keys = frozenset(item.key for item in items) if items else None
    yield ValueReference(name, UseKind.FILES, keys)

"""Every name that two planes, or two releases, must spell alike; each beside its inverse.

Uids differ from plane to plane, so an object and its copies are joined by name. If two objects could
have the same name, one would take over the other. Parts that are joined by dashes are ambiguous
(``a-b`` + ``c`` and ``a`` + ``b-c``), and so is a city in lower case. So the plain form is used only
if it can be split again. Any other input gets a readable stem, a double dash, which no plain form
contains, and a hash of the exact parts.
"""

import hashlib
import re
from typing import Final, NewType

from kubekit.api import digits

ClusterName = NewType("ClusterName", str)

LABEL_LIMIT: Final = 63
DEPLOYMENT_LIMIT: Final = 52  # leaves room for "-" and an ordinal within a label, whatever its use

_HASH_DIGITS: Final = 10
_MOST_DIGITS: Final = 9  # of an ordinal or an interface
_ALPHANUMERIC: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_CLUSTER_PREFIX: Final = "cluster-"
_HUB_NAMESPACE_PREFIX: Final = "ns-"
_CLAIM_PREFIX: Final = "instance-"
_POLICY_PREFIX: Final = "city-"
_NETWORK_BINDING_INFIX: Final = "-net-"
_EXECUTION_PREFIX: Final = "karmada-es-"
_UNNAMED_CELL: Final = re.compile(r"cell-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HISTORY_PREFIX: Final = "compute.datumapis.com-revision-history."
_GRANT_SUFFIX: Final = "-compute-quota"
# The letters of Kubernetes' random names. Without vowels they spell no words.
_SAFE_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_SERVICE_PREFIX: Final = "i-"


def cluster(name: str) -> ClusterName:
    """A cluster's name. An empty one is refused: it would silently mean "here"."""
    if not name:
        raise ValueError("a cluster name must not be empty")
    return ClusterName(name)


def encode_cluster(name: ClusterName) -> str:
    """The label value that names a project's plane: ``org/shop`` -> ``cluster-org_shop``."""
    if "_" in name:
        raise ValueError(f"cluster name {name!r} contains '_', which stands for '/' in labels")
    value = _CLUSTER_PREFIX + name.replace("/", "_")
    if len(value) > LABEL_LIMIT:
        longest = LABEL_LIMIT - len(_CLUSTER_PREFIX)
        raise ValueError(f"cluster name {name!r} is longer than {longest} characters")
    return value


def decode_cluster(value: str) -> ClusterName:
    """The inverse of `encode_cluster`. Exact, because no Kubernetes name contains ``_``."""
    if not value.startswith(_CLUSTER_PREFIX):
        raise ValueError(f"label value {value!r} does not start with {_CLUSTER_PREFIX!r}")
    return cluster(value.removeprefix(_CLUSTER_PREFIX).replace("_", "/"))


def cluster_key(name: ClusterName) -> ClusterName:
    """The cluster name of a project's plane: the last segment of its path."""
    return cluster(name.rpartition("/")[2])


def deployment(workload: str, placement: str, city: str) -> str:
    """The WorkloadDeployment of one placement and city: ``web-home-dfw``. At most 52 characters."""
    plain = f"{workload}-{placement}-{city.lower()}"
    is_unambiguous = _is_word(placement) and _is_city_word(city) and "--" not in plain
    if is_unambiguous and len(plain) <= DEPLOYMENT_LIMIT:
        return plain
    return _hashed(plain, (workload, placement, city), DEPLOYMENT_LIMIT)


def deployment_parts(name: str) -> tuple[str, str, str] | None:
    """Workload, placement and city of a plain deployment name; None when it has a hash."""
    stem, _, city = name.rpartition("-")
    workload, _, placement = stem.rpartition("-")
    if "--" in name or not (workload and placement and city):
        return None
    return workload, placement, city.upper()


def instance(deployment_name: str, ordinal: int) -> str:
    """The Instance in one slot of a deployment: ``web-home-dfw-0``."""
    return f"{deployment_name}-{ordinal}"


def instance_parts(name: str) -> tuple[str, int] | None:
    """Deployment and ordinal of an Instance's name; None when it is no slot's name."""
    owner, _, written = name.rpartition("-")
    ordinal = _number(written)
    return None if not owner or ordinal is None else (owner, ordinal)


def service(instance_name: str) -> str:
    """The Service of an Instance that runs as a Pod: its own name, if a Service may have it.

    The name of a Service is a label that starts with a letter. There is no inverse: a Service has an
    owner reference to its Instance.
    """
    is_label = "." not in instance_name and len(instance_name) <= LABEL_LIMIT
    if is_label and not instance_name[:1].isdigit():
        return instance_name
    return _hashed(_SERVICE_PREFIX + instance_name, (instance_name,), LABEL_LIMIT)


def claim(instance_name: str) -> str:
    """The quota claim of an Instance's slot. A recreated Instance finds its claim again by it."""
    return _CLAIM_PREFIX + instance_name


def claim_instance(name: str) -> str | None:
    """The Instance a claim is for; None when the name is not a claim's."""
    return _after(_CLAIM_PREFIX, name)


def hub_namespace(project_namespace_uid: str) -> str:
    """The namespace on the hub and in cells that holds one project namespace's objects."""
    return _HUB_NAMESPACE_PREFIX + project_namespace_uid


def hub_namespace_uid(name: str) -> str | None:
    """The uid of the project namespace behind a hub namespace; None when it is no such namespace."""
    return _after(_HUB_NAMESPACE_PREFIX, name)


def policy(city: str) -> str:
    """The propagation policy of a city: ``city-dfw``."""
    plain = _POLICY_PREFIX + city.lower()
    if _is_city_word(city) and len(plain) <= LABEL_LIMIT:
        return plain
    return _hashed(plain, (city,), LABEL_LIMIT)


def location(city: str) -> str:
    """The Location of a city in its cells, and its LocationBinding in projects: ``dfw``."""
    plain = city.lower()
    if _is_city_word(city) and len(plain) <= LABEL_LIMIT:
        return plain
    return _hashed(_POLICY_PREFIX + plain, (city,), LABEL_LIMIT)


def network_binding(deployment_name: str, interface: int) -> str:
    """The NetworkBinding of one interface of a deployment."""
    return f"{deployment_name}{_NETWORK_BINDING_INFIX}{interface}"


def network_binding_parts(name: str) -> tuple[str, int] | None:
    """Deployment and interface of a NetworkBinding's name; None when it is not one of ours."""
    owner, _, written = name.rpartition(_NETWORK_BINDING_INFIX)
    interface = _number(written)
    return None if not owner or interface is None else (owner, interface)


def network_context(network: str, location: str) -> str:
    """The context of a network at a location. The empty part is the location's lost namespace."""
    plain = f"{network}--{location}"
    return plain if plain.count("--") == 1 else f"{plain}--{_digest((network, location))}"


def subnet_claim(context: str) -> str:
    """The one claim for the addresses of a network context."""
    return f"{context}-0"


def resource_binding(name: str, kind: str) -> str:
    """Karmada's binding of an object."""
    return f"{name}-{kind}".lower()


def work(namespace: str, name: str, kind: str) -> str:
    """The Work of an object, in each cluster's namespace of Works, where all namespaces meet.

    It is Karmada's own name, so that a Work can be read without a list, whichever engine made it: the
    object's name, and an FNV-1a hash of namespace, name and kind, written in letters of its own.
    """
    stem = name.replace(":", ".").lower()
    path = "-".join(filter(None, (namespace, stem, kind))).lower()
    hashed = str(_fnv_1a(path.encode())).encode()
    return f"{stem}-{''.join(_SAFE_LETTERS[each % len(_SAFE_LETTERS)] for each in hashed)}"


def execution_namespace(cluster_name: str) -> str:
    """The hub namespace that holds what a member cluster is to apply."""
    return _EXECUTION_PREFIX + cluster_name


def execution_cluster(namespace: str) -> str | None:
    """The member cluster of an execution namespace; None when it is another namespace."""
    return _after(_EXECUTION_PREFIX, namespace)


def unnamed_cell(cluster_uid: str) -> str:
    """The name of a cell whose configuration has none, by the uid of its cluster."""
    return f"cell-{cluster_uid}"


def is_unnamed_cell(cell: str) -> bool:
    """Whether a cell has such a name. Which Cluster on the hub it is, is not known then."""
    return _UNNAMED_CELL.fullmatch(cell) is not None


def history(workload: str) -> str:
    """The ConfigMap that holds a Workload's revisions."""
    return _HISTORY_PREFIX + workload


def history_workload(name: str) -> str | None:
    """The Workload whose revisions a ConfigMap holds; None when it holds none."""
    return _after(_HISTORY_PREFIX, name)


def grant(project: str) -> str:
    """The grant that every project starts with."""
    return project + _GRANT_SUFFIX


def bucket(resource_type: str, consumer_kind: str, consumer_name: str) -> str:
    """The bucket that counts one resource of one consumer, as the quota service spells it."""
    key = f"{resource_type}{consumer_kind}{consumer_name}".encode()
    return "bucket-" + hashlib.sha256(key).hexdigest()


def _fnv_1a(data: bytes) -> int:
    """The 32-bit FNV-1a hash."""
    value = _FNV_OFFSET
    for byte in data:
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return value


def _after(prefix: str, name: str) -> str | None:
    rest = name.removeprefix(prefix)
    return rest if rest and rest != name else None


def _number(text: str) -> int | None:
    """The number in its one plain spelling; None for other texts and for larger numbers."""
    plain = digits.only(text) and not (text.startswith("0") and text != "0")
    return int(text) if plain and len(text) <= _MOST_DIGITS else None


def _is_word(text: str) -> bool:
    return bool(text) and _ALPHANUMERIC.issuperset(text)


def _is_city_word(city: str) -> bool:
    """City codes are upper case; another spelling must not be taken for one."""
    return city.isascii() and city == city.upper() and _is_word(city.lower())


def _hashed(plain: str, parts: tuple[str, ...], limit: int) -> str:
    """A name that fits, is readable, and belongs to no other input.

    The stem keeps only what a DNS label may contain, in runs joined by single dashes, so that the
    double dash before the hash is the only one.
    """
    spaced = "".join(c if c in _ALPHANUMERIC else " " for c in plain)
    stem = "-".join(spaced.split())[: limit - _HASH_DIGITS - 2].rstrip("-")
    return f"{stem}--{_digest(parts)}"


def _digest(parts: tuple[str, ...]) -> str:
    """The hash of the parts. The separator is escaped in them, so that their limits are unambiguous."""
    escaped = (part.replace("\1", "\1\1").replace("\0", "\1\2") for part in parts)
    exact = "\0".join(escaped).encode(errors="surrogatepass")
    return hashlib.sha256(exact).hexdigest()[:_HASH_DIGITS]

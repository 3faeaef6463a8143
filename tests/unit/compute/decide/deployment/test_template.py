"""The template hash, and Instances made from a template."""

import json
from typing import Annotated

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from compute.api import annotations
from compute.api.instance_spec import (
    Container,
    InstanceController,
    InstanceTemplate,
    InterfaceNetworkPolicy,
    LocationRef,
)
from compute.decide.deployment.template import canonical, template_hash
from kubekit.api.kinds.network_policies import NetworkPolicyIngressRule
from kubekit.api.kinds.pods import ResourceRequirements
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource, KeySelector, ResourceFieldRef
from kubekit.api.meta import TemplateMeta
from kubekit.api.wire import RawQuantity, Rule
from tests.support.compute.builders import template

# A machine and a container at once, which admission refuses, so that every kind of field is used.
FULL = """
{"metadata": {"labels": {"app": "web"}, "annotations": {"note": "b\\u00e9"}, "name": "n",
              "namespace": "s", "finalizers": ["example.test/f"]},
 "spec": {
  "runtime": {
   "resources": {"instanceType": "datumcloud/d1-standard-2", "requests": {"cpu": "1500m"}},
   "sandbox": {
    "containers": [
     {"name": "app", "image": "registry.test/web:1", "command": ["run"], "args": ["-v", ""],
      "env": [{"name": "A", "value": "1"},
              {"name": "B", "valueFrom": {"configMapKeyRef": {"key": "k", "name": "c"}}},
              {"name": "C", "valueFrom": {"secretKeyRef": {"key": "k", "optional": false}}},
              {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
              {"name": "E", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu",
                                                               "divisor": "1m"}}}],
      "ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}],
      "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": 2}},
      "volumeAttachments": [{"name": "data", "mountPath": "/data"}, {"name": "raw"}]}],
    "imagePullSecrets": [{"name": "pull"}]},
   "virtualMachine": {"volumeAttachments": [{"name": "boot"}],
                      "ports": [{"name": "ssh", "port": 22}]}},
  "networkInterfaces": [
   {"network": {"name": "default", "namespace": "other"},
    "networkPolicy": {"ingress": [{}, {"from": [{"ipBlock": {"cidr": "10.0.0.0/8",
                                                            "except": ["10.1.0.0/16"]}}],
                                      "ports": [{"port": 80, "endPort": 90, "protocol": "TCP"},
                                                {"port": "http"}]}]}}],
  "volumes": [
   {"name": "boot", "disk": {"deviceName": "d", "template": {"metadata": {"labels": {"a": "b"}},
     "spec": {"type": "pd-standard", "populator": {"image": {"name": "datumcloud/ubuntu-2204-lts"}},
              "resources": {"requests": {"storage": "25Gi"}}}}}},
   {"name": "data", "disk": {"template": {"spec": {"populator": {"filesystem": {"type": "ext4"}}}}}},
   {"name": "conf", "configMap": {"name": "c", "defaultMode": 0,
                                  "items": [{"key": "k", "path": "p", "mode": 384}]}},
   {"name": "keys", "secret": {"secretName": "s", "optional": true}}]}}
"""


def full() -> InstanceTemplate:
    return msgspec.json.decode(FULL, type=InstanceTemplate)


def with_container(**changes) -> InstanceTemplate:
    base = template()
    container = Container(**({"name": "app", "image": "registry.test/web:1"} | changes))
    return put_container(base, container)


def put_container(base: InstanceTemplate, container: Container) -> InstanceTemplate:
    assert base.spec.runtime.sandbox is not None
    sandbox = msgspec.structs.replace(base.spec.runtime.sandbox, containers=(container,))
    runtime = msgspec.structs.replace(base.spec.runtime, sandbox=sandbox)
    spec = msgspec.structs.replace(base.spec, runtime=runtime)
    return msgspec.structs.replace(base, spec=spec)


def with_policy(policy: InterfaceNetworkPolicy | None) -> InstanceTemplate:
    base = template()
    interface = msgspec.structs.replace(base.spec.network_interfaces[0], network_policy=policy)
    spec = msgspec.structs.replace(base.spec, network_interfaces=(interface,))
    return msgspec.structs.replace(base, spec=spec)


# Running Instances have these values. A release that computes others replaces every Instance of
# every user on the day it is installed, so they may never change.
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (template(), "c72189d2b446066b"),
        (template("registry.test/web:2"), "1c0ff3dad7e7c2ae"),
        (
            template(annotations={annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"}),
            "6c078faa496792cd",
        ),
        (full(), "6ce080d98cd33319"),
    ],
    ids=["smallest", "other image", "restarted", "every kind of field"],
)
def test_w43_golden_hashes(made, expected):
    """The hash of a template is the same in every release: 16 hex digits, 64 bits."""
    assert template_hash(made) == expected


def test_canonical_text():
    """Sorted keys, no blanks, and only what the template says."""
    spec = (
        b'{"networkInterfaces":[{"network":{"name":"default"}}],'
        b'"runtime":{"resources":{"instanceType":"datumcloud/d1-standard-2"},'
        b'"sandbox":{"containers":[{"image":"registry.test/web:1","name":"app"}]}}}'
    )
    assert canonical(template(labels={"b": "2", "a": "1"})) == (
        b'{"metadata":{"labels":{"a":"1","b":"2"}},"spec":' + spec + b"}"
    )


class Probe(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An object that a later release might add."""

    path: str = "/"


class LaterContainer(Container, frozen=True, kw_only=True):
    """A container as a later release might know it."""

    working_dir: str = ""
    pull_policy: Annotated[str | None, Rule(default="IfNotPresent")] = None
    families: Annotated[tuple[str, ...], Rule(default=["IPv6"])] = ()
    limit: Annotated[RawQuantity, Rule(default="1Gi")] = 0
    probe: Probe = msgspec.field(default_factory=Probe)
    tags: dict[str, str] = {}
    gate: Probe | None = None


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"working_dir": "", "families": (), "tags": {}, "probe": Probe(path="/"), "limit": "0"},
        {"pull_policy": "IfNotPresent", "families": ("IPv6",), "limit": "1024Mi"},
    ],
    ids=["unsaid", "python defaults", "defaults of the CRD"],
)
def test_w43_a_new_optional_field_causes_no_rollout(said):
    """A later type with more defaulted fields gives the same hash, written out or not."""
    later = LaterContainer(name="app", image="registry.test/web:1", **said)

    assert template_hash(put_container(template(), later)) == template_hash(template())


@pytest.mark.parametrize(
    "said",
    [
        {"working_dir": "/srv"},
        {"pull_policy": "Always"},
        {"families": ("IPv4",)},
        {"limit": "2Gi"},
        {"probe": Probe(path="/live")},
        {"tags": {"": ""}},
        {"gate": Probe()},
    ],
    ids=lambda said: next(iter(said)),
)
def test_w43_a_new_field_counts_once_it_is_used(said):
    """What differs from its default is part of the template, whatever its type."""
    later = LaterContainer(name="app", image="registry.test/web:1", **said)

    assert template_hash(put_container(template(), later)) != template_hash(template())


def test_fields_that_controllers_set_do_not_count():
    """A location or a controller block is no part of a template."""
    spec = msgspec.structs.replace(
        template().spec,
        location=LocationRef(name="dfw"),
        controller=InstanceController(template_hash="x"),
    )

    assert template_hash(InstanceTemplate(spec=spec)) == template_hash(template())


@pytest.mark.parametrize(
    ("one", "other"),
    [("1000m", "1"), (1, "1"), ("1Gi", "1024Mi"), ("1Gi", 2**30), ("1e3", "1k"), ("0", 0)],
)
def test_amounts_count_by_value(one, other):
    """Two spellings of one amount are one template."""
    first, second = (
        with_container(resources=ResourceRequirements(limits={"cpu": amount}))
        for amount in (one, other)
    )

    assert canonical(first) == canonical(second)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "2"), ("1M", "1Mi"), ("lots", "many"), ("1", "1 "), (10**200, "1")]
)
def test_different_amounts_differ(one, other):
    """Other amounts are other templates, and so are texts that are no amounts at all."""
    first, second = (
        with_container(resources=ResourceRequirements(limits={"cpu": amount}))
        for amount in (one, other)
    )

    assert canonical(first) != canonical(second)


@pytest.mark.parametrize("divisor", [0, "0", "0m"])
def test_an_amount_that_equals_its_default_is_left_out(divisor):
    """Zero is the default divisor however it is written."""
    ref = ResourceFieldRef(resource="limits.cpu", divisor=divisor)
    made = with_container(env=(EnvVar(name="A", value_from=EnvVarSource(resource_field_ref=ref)),))

    assert b"divisor" not in canonical(made)


def test_text_that_looks_like_an_amount_is_text():
    """Only amounts are read by value: a variable of 1000m is not one of 1."""
    first, second = (with_container(env=(EnvVar(name="A", value=v),)) for v in ("1000m", "1"))

    assert canonical(first) != canonical(second)


@pytest.mark.parametrize(
    ("empty", "absent"),
    [
        (with_policy(InterfaceNetworkPolicy()), with_policy(None)),
        (
            with_policy(InterfaceNetworkPolicy(ingress=(NetworkPolicyIngressRule(),))),
            with_policy(InterfaceNetworkPolicy()),
        ),
        (
            with_container(env=(EnvVar(name="A", value_from=EnvVarSource()),)),
            with_container(env=(EnvVar(name="A"),)),
        ),
        (with_container(args=("",)), with_container()),
        (with_container(env=(EnvVar(name="A"),)), with_container()),
        (template(labels={"a": ""}), template()),
    ],
    ids=["network policy", "rule for all", "value source", "argument", "variable", "label"],
)
def test_empty_is_not_absent_where_it_says_something(empty, absent):
    """An optional object, an entry of a list and a key of a map matter even when they are empty."""
    assert canonical(empty) != canonical(absent)


def test_the_order_of_a_list_counts():
    """Variables may refer to those before them, so their order is part of the template."""
    first, second = EnvVar(name="A", value="1"), EnvVar(name="B", value="2")

    assert canonical(with_container(env=(first, second))) != canonical(
        with_container(env=(second, first))
    )


TEXT = st.text(max_size=3)
KEY_SELECTORS = st.builds(KeySelector, key=TEXT, name=TEXT, optional=st.none() | st.booleans())
VARIABLES = st.builds(
    EnvVar,
    name=TEXT,
    value=TEXT,
    value_from=st.none() | st.builds(EnvVarSource, secret_key_ref=st.none() | KEY_SELECTORS),
)
TEMPLATES = st.builds(
    lambda meta, env, args: msgspec.structs.replace(
        with_container(env=tuple(env), args=tuple(args)), metadata=meta
    ),
    st.builds(TemplateMeta, labels=st.dictionaries(TEXT, TEXT), name=TEXT),
    st.lists(VARIABLES, max_size=3),
    st.lists(TEXT, max_size=3),
)


@given(TEMPLATES)
@settings(deadline=None)
def test_canonical_text_is_the_template(made):
    """Nothing is lost: read back, the canonical text is the same template."""
    assert msgspec.json.decode(canonical(made), type=InstanceTemplate) == made


@given(TEMPLATES)
@settings(deadline=None)
def test_the_hash_survives_the_wire(made):
    """Storing a template, with its keys in any order, does not change what it is."""
    raw = json.loads(msgspec.json.encode(made))
    backwards = json.dumps(dict(reversed(raw.items())))

    assert template_hash(msgspec.json.decode(backwards, type=InstanceTemplate)) == template_hash(
        made
    )


def test_canonical_text_of_a_canonical_text():
    """A template that uses every kind of field is canonical after one turn."""
    once = canonical(full())

    assert canonical(msgspec.json.decode(once, type=InstanceTemplate)) == once

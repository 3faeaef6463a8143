"""ConfigMaps and Secrets as people read them."""

import msgspec

from compute.api import names
from compute.decide.stored_values import ValueChange, with_values
from compute.views.stored_values import store_view, store_views
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import workload
from tests.support.compute.store_builders import using, variable


def secret(name="db", **values):
    made = Secret(metadata=ObjectMeta(name=name, namespace="default"), type="Opaque")
    return with_values(made, ValueChange(values))


def test_no_value_is_shown():
    """Keys and sizes only, in whatever format."""
    view = store_view(secret(PASSWORD=b"hunter2", A=b""))

    assert [(key.name, key.bytes) for key in view.keys] == [("A", 0), ("PASSWORD", 7)]
    assert b"hunter2" not in msgspec.json.encode(view)
    assert b"aHVudGVyMg" not in msgspec.json.encode(view)
    assert (view.kind, view.type, view.used_by) == ("Secret", "Opaque", None)


def test_users_that_keep_old_values():
    """Only those that read a key that has changed."""
    web = workload("web", template=using(variable("db", "PASSWORD", secret=True)))
    api = workload("api", template=using(variable("db", "HOST", secret=True)))

    view = store_view(secret(PASSWORD=b"x"), [web, api], {"PASSWORD"})

    assert view.used_by is not None
    assert [user.name for user in view.used_by] == ["api", "web"]
    assert view.to_restart == ("web",)
    assert store_view(secret(), None, {"PASSWORD"}).to_restart == ()


def test_histories_are_not_listed():
    """The ConfigMaps with the revisions of Workloads belong to their controller."""
    history = ConfigMap(metadata=ObjectMeta(name=names.history("web")))
    others = [ConfigMap(metadata=ObjectMeta(name=name)) for name in ("b", "a")]

    views = store_views([history, *others], [])

    assert [(view.name, view.type) for view in views] == [("a", None), ("b", None)]

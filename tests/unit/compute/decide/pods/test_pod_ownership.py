"""Whose a Pod is."""

import pytest

from compute.api import labels
from compute.decide.pods.pod_ownership import Holder, holder, instance_uid
from kubekit.api.kinds.pods import Pod, PodSpec
from kubekit.api.meta import ObjectMeta, OwnerReference
from tests.support.compute.builders import instance

MADE = instance(uid="uid-i")
EARLIER = instance(uid="uid-old")
SET = OwnerReference(api_version="apps/v1", kind="StatefulSet", name="x", uid="u", controller=True)


def pod(*owners: OwnerReference, **known: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name="web", labels=known, owner_references=owners),
        spec=PodSpec(containers=()),
    )


@pytest.mark.parametrize(
    ("owners", "label", "expected"),
    [
        ([MADE.reference(controller=True)], "uid-i", Holder.INSTANCE),
        ([MADE.reference(controller=True)], "", Holder.INSTANCE),
        ([], "uid-i", Holder.INSTANCE),
        ([SET, MADE.reference(controller=True)], "", Holder.INSTANCE),
        ([EARLIER.reference(controller=True)], "", Holder.EARLIER_INSTANCE),
        ([], "uid-old", Holder.EARLIER_INSTANCE),
        ([], "", Holder.OTHER),
        ([SET], "", Holder.OTHER),
        ([MADE.reference()], "", Holder.OTHER),
    ],
)
def test_a_pod_is_known_by_its_owner_or_its_label(owners, label, expected):
    found = pod(*owners, **({labels.INSTANCE_UID: label} if label else {}))

    assert holder(found, MADE) is expected
    assert bool(instance_uid(found)) is (expected is not Holder.OTHER)

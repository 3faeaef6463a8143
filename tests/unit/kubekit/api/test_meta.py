"""An object with some fields of one part replaced."""

from kubekit.api.kinds.coordination import Lease, LeaseSpec
from kubekit.api.kinds.core import Namespace, NamespaceStatus
from kubekit.api.meta import ObjectMeta, with_metadata, with_spec, with_status


def test_only_the_named_fields_of_the_metadata_are_replaced():
    """The other fields, and the object that was given, stay as they are."""
    namespace = Namespace(metadata=ObjectMeta(name="a", labels={"k": "v"}))
    held = with_metadata(namespace, finalizers=("example.com/held",))
    assert held.metadata == ObjectMeta(
        name="a", labels={"k": "v"}, finalizers=("example.com/held",)
    )
    assert namespace.metadata.finalizers == ()


def test_only_the_named_fields_of_the_spec_are_replaced():
    """A count of a lease changes, and its holder stays."""
    lease = Lease(metadata=ObjectMeta(name="a"), spec=LeaseSpec(holder_identity="one"))
    renewed = with_spec(lease, lease_transitions=2)
    assert renewed.spec == LeaseSpec(holder_identity="one", lease_transitions=2)
    assert renewed.metadata is lease.metadata


def test_only_the_named_fields_of_the_status_are_replaced():
    """The metadata is shared with the object that was given."""
    namespace = Namespace(metadata=ObjectMeta(name="a"))
    ending = with_status(namespace, phase="Terminating")
    assert ending.status == NamespaceStatus(phase="Terminating")
    assert ending.metadata is namespace.metadata

"""What is left on the hub of something that is gone."""

from compute.decide.federation import orphaned_copies, orphaned_deployments
from compute.decide.writes import Delete
from kubekit.api.meta import OwnerReference
from tests.support.compute.builders import NOW
from tests.support.compute.federation_builders import (
    cell_instance,
    labelled,
    on_hub,
    original,
    with_meta,
)


def test_a_deployment_whose_original_is_gone_is_an_orphan():
    """Originals are found by name; one that is terminating sees to its copy itself."""
    lost = on_hub(original("lost"))
    kept = on_hub(original("kept"))
    leaving = on_hub(original("leaving"))
    originals = [original("kept"), original("leaving", deletion_timestamp=NOW)]

    assert orphaned_deployments([lost, kept, leaving], originals) == (Delete(lost),)


def test_what_is_no_copy_or_going_already_is_left_alone():
    """Only what says that it is a copy can be an orphan, and only once."""
    handmade = labelled(on_hub(), UPSTREAM_NAMESPACE=None)

    assert orphaned_deployments([handmade, on_hub(deletion_timestamp=NOW)], []) == ()


def owned(ordinal: int, uid: str, *, controller: bool = True):
    owner = OwnerReference(
        api_version="compute.datumapis.com/v1alpha",
        kind="WorkloadDeployment",
        name="web-home-dfw",
        uid=uid,
        controller=controller,
    )
    return cell_instance(ordinal, owner_references=(owner,))


def test_a_copy_whose_deployment_is_gone_is_an_orphan():
    """A deployment of the same name made later is another owner."""
    kept, lost = owned(0, "hub-web-home-dfw"), owned(1, "earlier")

    assert orphaned_copies([lost, kept], [on_hub()]) == (Delete(lost),)
    assert orphaned_copies([with_meta(lost, deletion_timestamp=NOW)], []) == ()


def test_a_copy_without_a_controller_is_judged_by_its_label():
    """Copies that the original made name their deployment, and have no owner."""
    plain, other = owned(0, "any", controller=False), cell_instance(1, "gone")

    assert orphaned_copies([plain, cell_instance(2), other], [on_hub()]) == (Delete(other),)

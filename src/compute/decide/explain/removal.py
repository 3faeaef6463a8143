"""What holds an object that is being removed, and who lets go of it when."""

from typing import Final

from compute.api import finalizers
from kubekit.api.finalizers import FOREGROUND
from kubekit.api.meta import Object

_HOLDERS: Final = {
    finalizers.WORKLOAD: "its controller lets go once everything made from it is gone",
    finalizers.FEDERATOR: "the federator lets go once the hub's copy is gone",
    finalizers.CLAIM: "the cell lets go once the machine has stopped and its quota is given back",
    finalizers.INSTANCE: "a cell of the original lets go once the hub's copy is gone",
    finalizers.NETWORK: "the network service lets go once nobody uses the network",
    finalizers.REFERENCED_DATA: (
        "the management plane lets go once its ConfigMaps and Secrets are taken back"
    ),
    finalizers.UNIKRAFT: "the provider lets go once the machine has stopped",
    FOREGROUND: "the garbage collector lets go once what it owns is gone",
}
_STRANGER: Final = "whoever put it there has to let go"


def held_by(of: Object) -> str:
    """The finalizers that hold the object, each with who removes it, as sentences."""
    holds = of.metadata.finalizers
    if not holds:
        return "Nothing holds it any more."
    return " ".join(f"{name} holds it: {_HOLDERS.get(name, _STRANGER)}." for name in holds)

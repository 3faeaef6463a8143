"""A template that an undo restored in one city."""

from typing import Annotated

from compute.api.instance_spec import InstanceTemplate
from kubekit.api.wire import Int64, Rule, Wire


class CityPin(Wire, frozen=True, kw_only=True):
    """A template that one city runs in place of that of the Workload."""

    revision: Annotated[Int64, Rule(minimum=0)] = 0  # for users to see; 0 if it is unknown
    template: InstanceTemplate
    instead: str  # `unstamped_hash` of the Workload's template at the time of the undo

"""Annotation keys."""

from typing import Final

SSH_KEYS: Final = "compute.datumapis.com/ssh-keys"  # lines of user:key, in a machine's template
RESTARTED_AT: Final = "compute.datumapis.com/restartedAt"  # in the template, so that it rolls
PAUSED: Final = "compute.datumapis.com/paused"  # "true" on a Workload holds template changes back
PAUSED_CITIES: Final = "compute.datumapis.com/paused-cities"  # "DFW,LHR": as paused, in these
# JSON objects by city, on a Workload: times of restarts, and templates of an undo in one city.
RESTARTED_CITIES: Final = "compute.datumapis.com/restarted-cities"
CITY_TEMPLATES: Final = "compute.datumapis.com/city-templates"
# A JSON object by Instance, on a Workload and its deployments: when replacements were requested.
REPLACED_INSTANCES: Final = "compute.datumapis.com/replaced-instances"
REPLACED_AT: Final = "compute.datumapis.com/replaced-at"  # on an Instance: the request it answers
TEMPLATE_HASH: Final = "compute.datumapis.com/template-hash"  # on a Pod: what it was created from
MAX_UNAVAILABLE: Final = "compute.datumapis.com/max-unavailable"  # "1" or "25%", for updates
SUSPENDED: Final = "compute.datumapis.com/suspended"
EXPECTED_REFERENCED_DATA: Final = "compute.datumapis.com/expected-referenced-data"
REFERENCED_DATA_ERROR: Final = "compute.datumapis.com/referenced-data-error"
FEDERATION_NAMESPACE: Final = "compute.datumapis.com/federation-namespace"
# A JSON object on a Workload: the note of a change, and the generation that the change made.
REVISION_NOTE: Final = "compute.datumapis.com/revision-note"
CURRENT_REVISION: Final = "compute.datumapis.com/current-revision"  # on the history ConfigMap
UNUSED: Final = "compute.datumapis.com/unused"  # on a policy that is about to be deleted
TRACEPARENT: Final = "compute.datumapis.com/traceparent"  # W3C trace context
CUT: Final = "compute.datumapis.com/cut"  # "true" on a hub's Cluster: nothing goes in or out
APPROVAL: Final = "services.miloapis.com/approval"  # Approved or Denied, on a ServiceEntitlement
APPROVAL_MESSAGE: Final = "services.miloapis.com/approval-message"  # why, for the requester
# On a Namespace whose default network was created.
DEFAULT_NETWORK: Final = "networking.datumapis.com/default-network"
FIRST_ENTITLEMENT: Final = "services.miloapis.com/first-entitlement"  # as DEFAULT_NETWORK
DRAIN: Final = "compute.datumapis.com/drain"  # on a deployment: why it is drained, and when
LAST_REPORT: Final = "compute.datumapis.com/last-report"  # when the cell last reported

# Set by users or by us in the project, applied in the cell. Absence is propagated too, since a stale
# copy would gate or stop Instances indefinitely.
MIRRORED: Final = (
    EXPECTED_REFERENCED_DATA,
    REFERENCED_DATA_ERROR,
    SUSPENDED,
    PAUSED,
    MAX_UNAVAILABLE,
    REPLACED_INSTANCES,
)

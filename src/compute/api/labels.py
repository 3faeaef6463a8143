"""Label keys and the fixed values that go with them."""

from typing import Final

# On WorkloadDeployments and Instances, set by our controllers.
WORKLOAD_UID: Final = "compute.datumapis.com/workload-uid"  # always the project's uid
WORKLOAD_NAME: Final = "compute.datumapis.com/workload-name"
DEPLOYMENT_UID: Final = "compute.datumapis.com/workload-deployment-uid"  # differs per plane
DEPLOYMENT_NAME: Final = "compute.datumapis.com/workload-deployment-name"  # joins the planes
PLACEMENT_NAME: Final = "compute.datumapis.com/placement-name"
CITY_CODE: Final = "compute.datumapis.com/city-code"
INSTANCE_INDEX: Final = "compute.datumapis.com/instance-index"

# On Pods and Services: the uid of the Instance that they run.
INSTANCE_UID: Final = "compute.datumapis.com/instance-uid"

# On hub WorkloadDeployments, Karmada Clusters and Locations: the city as written, case and all.
TOPOLOGY_CITY_CODE: Final = "topology.datum.net/city-code"
TOPOLOGY_COUNTRY: Final = "topology.datum.net/country"
TOPOLOGY_LATITUDE: Final = "topology.datum.net/latitude"  # degrees, as a decimal number
TOPOLOGY_LONGITUDE: Final = "topology.datum.net/longitude"
TOPOLOGY_REGION: Final = "topology.datum.net/region"

# On hub namespaces and on hub copies: the project of the original, and its namespace there.
UPSTREAM_CLUSTER: Final = "meta.datumapis.com/upstream-cluster-name"
UPSTREAM_NAMESPACE: Final = "meta.datumapis.com/upstream-namespace"

# On quota claims: the Instance that they are for, and its cell.
SOURCE_CLUSTER: Final = "compute.datumapis.com/source-cluster"
INSTANCE_NAMESPACE: Final = "compute.datumapis.com/instance-namespace"

SERVICE_NAME: Final = "services.miloapis.com/service-name"
COMPUTE_SERVICE: Final = "compute.datumapis.com"

# On a namespace of the hub: "true" at its creation keeps it out of the cells. A namespace that was
# sent to them would be deleted there when it is deleted on the hub.
SKIP_PROPAGATION: Final = "namespace.karmada.io/skip-auto-propagation"

# What a hub copy of an Instance may have. Everything else stays in the cell.
WRITE_BACK: Final = (
    UPSTREAM_CLUSTER,
    UPSTREAM_NAMESPACE,
    WORKLOAD_UID,
    DEPLOYMENT_UID,
    INSTANCE_INDEX,
    DEPLOYMENT_NAME,
    CITY_CODE,
    WORKLOAD_NAME,
    PLACEMENT_NAME,
)

# What a Pod or Service has of its Instance. The other labels are the user's, and some of them make
# components of a cluster change a Pod.
IDENTITY: Final = (
    WORKLOAD_UID,
    WORKLOAD_NAME,
    DEPLOYMENT_UID,
    DEPLOYMENT_NAME,
    PLACEMENT_NAME,
    CITY_CODE,
    INSTANCE_INDEX,
)

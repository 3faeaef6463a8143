"""Role-based access control: rules, bindings, and access reviews.

    authorizer        whether a user may do something: called for every request
    rbac_index        the roles and bindings of a plane, by subject
    rules             what a rule allows
    escalation        no user grants more than it has
    default_roles, bootstrap, aggregation
                      the roles of every plane, and ClusterRoles that are made of others
    access_reviews    SubjectAccessReview and its relatives

Where credentials become users is `kubekit.plane.http.authentication`.
"""

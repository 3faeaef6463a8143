"""The HTTPS transport of a plane.

    server           the listener: one address, many planes
    connection       bytes to requests, responses to bytes
    application      one request: authenticate, find the plane, authorize, call the verb. Start here
    verbs            from the method and the path to a call of the registry
    content          bodies, query parameters and response formats
    authentication, certificates, fairness, audit
                     the steps of `application`
    openapi, pages   discovery, OpenAPI, health, metrics

`docs/planes.md` follows a POST through these files and the registry.
"""

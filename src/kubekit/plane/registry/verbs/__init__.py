"""The verbs of the API: create, update, patch, apply, delete, list and watch.

    create_handler, apply_handler, delete_handler, list_handler, watch_handler
                     one verb each
    update_handler   the verbs update and patch; `update_loop` retries them
    preparation      the steps that every write passes before it is stored: schema, admission, rules
    validation, metadata, identity_checks, namespace_lifecycle
                     the checks that these steps use
    watches          an open watch: a cursor into the changes of the store

`kubekit.plane.registry.registry.Registry` calls them. Start reading at `create_handler`.
"""

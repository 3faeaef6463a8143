"""Managed fields and server-side apply: which manager owns which field of an object.

Pure functions over documents. `managed_fields` updates the entries on a create or update;
`server_side_apply` merges an applied configuration. Both work on `field_sets` (the ``fieldsV1``
format) and on the `shapes` of a kind, which are built from its schema. Start reading at
`managed_fields`, then `server_side_apply`.
"""

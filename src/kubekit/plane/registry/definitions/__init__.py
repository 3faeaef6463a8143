"""CustomResourceDefinitions: their validation, their status, and the kinds that they serve.

Start reading at `controller`, which serves the kinds, and `definition_kind`, which validates.
"""

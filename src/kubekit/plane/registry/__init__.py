"""The API machinery of one plane: kinds, validation, verbs, garbage collection, namespaces.

`registry.Registry` is the entry point: it has one method for each verb. The `verbs` package
implements them, `schema` validates documents, `rules` has the rules of built-in kinds, `patch` the
patch types, `definitions` serves CustomResourceDefinitions, and `background` runs the garbage
collector and the namespace deleter. Start reading at `registry.Registry`, then
`verbs/create_handler.py`.
"""

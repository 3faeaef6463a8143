"""The validation rules of structural schemas.

definitions   whether rules are valid and cheap enough, when a definition is created
compiled      the rules of one schema node, compiled
rules         the rules of a schema, applied to documents
correlation   the old value for a new one, for rules with ``oldSelf``
field_paths   the field that a rule reports its error for
"""

"""Old faults: a schema may become tighter than the objects that are stored already.

Whoever changes such an object is told only what is wrong with what he changed. It takes a walk
through both documents, so it is asked only once something was found wrong.
"""

from kubekit.api.fields import FieldError
from kubekit.api.structural import Judge, coerced, faults, prune, with_defaults
from kubekit.api.structural.nodes import Document, Schema


def ratcheted(document: Document, old: Document, schema: Schema, judge: Judge) -> list[FieldError]:
    """What is wrong with a complete document, but for what was so in the one it replaces.

    The old one is compared as it would be read today: with the defaults it has by now.
    """
    complete = with_defaults(prune(old, schema), schema, judge.spend)
    return faults(document, schema, judge, coerced(complete, schema).document)

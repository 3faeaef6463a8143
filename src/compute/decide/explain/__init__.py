"""Why something does not run, who can fix it, and which command is next.

Start with `explanations`, which writes the sentences. `cause` finds the one cause, `checklist` lists
the gates, and `titles` names objects.
"""

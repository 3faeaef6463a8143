"""The base of the errors that a plane reports to its operator."""


class PlaneError(Exception):
    """The plane cannot start or continue. The message says what happened, where, and what to do."""

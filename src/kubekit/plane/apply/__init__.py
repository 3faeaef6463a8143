"""Who owns which field of an object, and what server-side apply makes of it. Pure."""

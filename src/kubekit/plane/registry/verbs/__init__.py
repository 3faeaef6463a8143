"""The verbs of the API: create, update, patch, apply, delete, list and watch."""

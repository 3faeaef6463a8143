"""Admission plugins of a plane: webhooks, and the plane's quota."""

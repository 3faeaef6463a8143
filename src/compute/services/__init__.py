"""The neighbours that a world on one machine brings along: projects, quota, networks, locations."""

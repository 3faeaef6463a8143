"""The patch formats: JSON patch, merge patch, strategic merge patch."""

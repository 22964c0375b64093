"""SEAM: where everything a study produces is appended; `base` is the promise, `sql` keeps it."""

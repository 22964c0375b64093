"""One ranking for studies and for vote files, and what could explain it."""

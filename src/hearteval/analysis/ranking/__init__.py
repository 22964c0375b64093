"""One ranking for studies and for vote files."""

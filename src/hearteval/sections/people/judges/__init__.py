"""People beside judges: how far they agree, each by themselves and with each other."""

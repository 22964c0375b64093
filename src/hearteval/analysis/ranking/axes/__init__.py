"""Axes of a ranking: how systems stand on each, and on all under weights of one's own."""

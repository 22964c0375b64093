"""Models around a model: retries, limits, budget, reply cache."""

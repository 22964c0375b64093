"""Models against people: how often whose reply is preferred, and by how much."""

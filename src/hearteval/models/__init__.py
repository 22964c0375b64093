"""The seam to language models: one protocol, its clients, and wrappers around them."""

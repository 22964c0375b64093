"""What labels say: what completions do, who wins with it, how far labelers agree."""

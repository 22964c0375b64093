"""What whoever watches a study is told of it, and what they decide: work and held texts."""

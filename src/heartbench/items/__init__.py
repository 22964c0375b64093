"""STEP 1: corpora -> items. Pure but for `run`, which reads and writes the store."""

"""What shows that a store has changed: by hand or damage (`seal`, `verify`), or at all."""

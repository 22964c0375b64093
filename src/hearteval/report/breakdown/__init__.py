"""What the ranking depends on, in words, pictures and tables: items, methods, traits of systems."""

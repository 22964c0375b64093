"""What a model, a rule set or a person says of a text, as `hearteval.domain.Label`."""

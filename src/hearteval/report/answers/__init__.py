"""The answer: who leads, which of two is preferred, where one's own system stands."""

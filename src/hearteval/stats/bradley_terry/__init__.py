"""Bradley-Terry strengths: fits, variances, intervals, fit check."""

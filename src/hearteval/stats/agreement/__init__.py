"""Agreement of raters over units: coefficients, and their intervals from a bootstrap of units."""

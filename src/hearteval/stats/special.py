"""Special functions of SciPy, loaded when the first is called: a fifth of the start of a verb.

Arguments and results are those of `scipy.special`, element by element.
"""

from typing import Any

import scipy


def expit(x: Any) -> Any:
    """Return the logistic function."""
    return scipy.special.expit(x)


def log_expit(x: Any) -> Any:
    """Return the logarithm of the logistic function."""
    return scipy.special.log_expit(x)


def ndtr(x: Any) -> Any:
    """Return the normal distribution function."""
    return scipy.special.ndtr(x)


def ndtri(p: Any) -> Any:
    """Return a quantile of the normal distribution."""
    return scipy.special.ndtri(p)


def stdtr(df: Any, t: Any) -> Any:
    """Return the distribution function of Student's t."""
    return scipy.special.stdtr(df, t)


def stdtrit(df: Any, p: Any) -> Any:
    """Return a quantile of Student's t."""
    return scipy.special.stdtrit(df, p)


def erfc(x: Any) -> Any:
    """Return the complementary error function: both tails of the normal beyond x sqrt(2)."""
    return scipy.special.erfc(x)


def gammainc(a: Any, x: Any) -> Any:
    """Return the distribution function of the gamma distribution of shape a."""
    return scipy.special.gammainc(a, x)


def gammaincc(a: Any, x: Any) -> Any:
    """Return the upper tail of the gamma distribution of shape a."""
    return scipy.special.gammaincc(a, x)


def gammaincinv(a: Any, p: Any) -> Any:
    """Return a quantile of the gamma distribution of shape a."""
    return scipy.special.gammaincinv(a, p)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the distribution function of the beta distribution."""
    return scipy.special.betainc(a, b, x)


def betaincinv(a: Any, b: Any, p: Any) -> Any:
    """Return a quantile of the beta distribution."""
    return scipy.special.betaincinv(a, b, p)


def chdtrc(df: Any, x: Any) -> Any:
    """Return the upper tail of the chi-squared distribution."""
    return scipy.special.chdtrc(df, x)


def fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    """Return a quantile of the F distribution."""
    return scipy.special.fdtri(dfn, dfd, p)


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """Return the upper tail of the F distribution."""
    return scipy.special.fdtrc(dfn, dfd, x)


def logit(p: Any) -> Any:
    """Return the log odds of a chance."""
    return scipy.special.logit(p)


def t_quantile(df: float, *, level: float) -> float:
    """Return how many standard errors an interval of t reaches to each side."""
    return float(stdtrit(df, (1 + level) / 2))

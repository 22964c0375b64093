"""Information matrices that are singular because only some combinations of parameters have meaning.

Only differences of strengths matter, and their unit is a convention. Along such directions (null
vectors) the likelihood is flat, and as many constraints (strengths of mean 0) fix the parameters.
"""

from dataclasses import dataclass

import numpy as np

from heartbench.stats.comparisons import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaled:
    """An information matrix with unit diagonal, made regular along its null vectors.

    Attributes:
        matrix: The scaled information plus the projection on the scaled null vectors.
        scale: What each parameter is divided by, about its standard error were the rest known.
    """

    matrix: FloatArray
    scale: FloatArray


def scale_information(information: FloatArray, null_vectors: FloatArray) -> Scaled:
    """Scale a matrix to unit diagonal and make it regular along the null vectors, (m, n_null).

    The unit of a covariate (characters or pages) then does not matter to the precision.
    """
    diagonal = np.diag(information)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    flat = np.linalg.qr(null_vectors / scale[:, None])[0]
    return Scaled(matrix=scale[:, None] * information * scale + flat @ flat.T, scale=scale)


def constrained_inverse(
    information: FloatArray, null_vectors: FloatArray, constraints: FloatArray
) -> FloatArray:
    """Invert the information among parameters that obey linear constraints (Silvey 1959).

    It is N (N' I N)^-1 N', N any basis of the vectors v with C v = 0, for an information I, (m, m),
    singular along exactly its null vectors V, (m, n_null), and constraints C, (n_null, m), that
    fix a point along them: C V is regular.
    """
    scaled = scale_information(information, null_vectors)
    inverse = scaled.scale[:, None] * np.linalg.inv(scaled.matrix) * scaled.scale
    onto = np.linalg.solve(constraints @ null_vectors, constraints)
    project = np.eye(len(information)) - null_vectors @ onto
    return np.asarray(project @ inverse @ project.T)

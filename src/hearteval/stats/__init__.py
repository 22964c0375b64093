"""Mathematics on arrays only: no system has a name here, and errors carry indices.

Small matrices are multiplied in one BLAS thread: more cost several times what they save.
"""

import sys
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which matrix products use one thread."""
    controller = _controller(has_scipy="scipy.linalg" in sys.modules)
    limits: AbstractContextManager[object] = controller.limit(limits=1, user_api="blas")
    return limits


@cache
def _controller(*, has_scipy: bool) -> ThreadpoolController:
    # Looking up the loaded libraries takes about a millisecond; it is done once before SciPy's own
    # BLAS is loaded, and once after.
    del has_scipy
    return ThreadpoolController()

"""heartbench: the open implementation of HEART (arXiv 2601.19922).

People and language models answer the same distressed seeker, blinded raters compare the answers in
pairs, and the comparisons become ratings with honest intervals. Importing this package reads no
file and no environment; the command line is ``heart``.
"""

__all__ = ["__version__"]

__version__ = "0.1.0.dev0"

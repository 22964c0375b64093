"""Whole studies of planted truth: `heart simulate`.

`world` says what is true, `texts` writes items and completions that say what they are, `drawing`
lets people and judges answer, `truth` says what every figure tends to, `making` stores it all.
"""

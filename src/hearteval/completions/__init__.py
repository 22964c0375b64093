"""STEP 2, items to completions: what every system answers to every item.

``baselines`` holds the systems that need no model and no key: the corpus's own next turn, replies
borrowed from other dialogues (``borrowed``), an ELIZA-style listener (``reflective``), and stock
sentences.
"""

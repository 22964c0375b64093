"""The offline cue judge: `judge` compares two texts by the `cues` that it finds in them.

Texts are read once (`reading`), with the words of ``protocol/cues.toml`` (`lexicon`); `hostility`
has a module of its own. A baseline that measures nothing about empathy.
"""

"""Escalation: seeker turns of regular items rewritten so that the seeker resists help (HEART 9.2).

`plan` says what is rewritten how, `prompt` and `reply` what models are asked and what they answer,
`checks` what a rewrite is held against, `run` the step.
"""

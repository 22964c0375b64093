"""What stands behind the numbers, in words: what is missing, who took part, what it cost."""

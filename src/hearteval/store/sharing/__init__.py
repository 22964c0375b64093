"""What processes on one store share: questions, money, and the commits of their replies."""

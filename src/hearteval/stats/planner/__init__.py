"""What a design of comparisons will tell, from variance components assumed or measured."""

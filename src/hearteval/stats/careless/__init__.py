"""Whether people answer without reading: habits of one, and what one carries beside the others."""

"""What could explain a ranking, and whether it stands: asked again, or beside another."""

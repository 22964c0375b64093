"""What is tested of judges beside a study, as studies of its own."""

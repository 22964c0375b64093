"""What is printed of files: by heart rank, agree, compare and check, and by their functions."""

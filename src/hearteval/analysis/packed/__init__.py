"""What a study has millions of, in few bytes."""

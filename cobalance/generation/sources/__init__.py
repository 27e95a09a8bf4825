"""Source images and object masks that generated images start from."""

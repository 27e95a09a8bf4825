"""What models say, from Python: labels of images, and scores of classifiers."""

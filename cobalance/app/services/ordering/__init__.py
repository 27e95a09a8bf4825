"""From a plan of images to a job that makes them."""

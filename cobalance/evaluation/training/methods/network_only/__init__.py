"""Methods that change the loss, the outputs or the images of a network."""

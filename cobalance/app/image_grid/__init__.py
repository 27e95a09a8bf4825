"""A grid of images with a lightbox, as a Streamlit component."""

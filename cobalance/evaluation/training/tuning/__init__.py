"""Fine-tune models of transformers on images with captions: CLIP and captioners."""

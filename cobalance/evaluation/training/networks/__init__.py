"""Train networks of timm on images: data loading, optimisation, checkpoints, GradCAM."""

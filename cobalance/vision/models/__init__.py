"""Vision models: checkpoints, devices, tokenizers, prompts, and an open-vocabulary detector."""

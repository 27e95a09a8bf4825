"""Libraries that are imported when they are first used: they are large, or in an extra."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import diffusers as diffusers
    import huggingface_hub as huggingface_hub
    import pandas as pandas
    import safetensors as safetensors
    import sklearn as sklearn
    import torch as torch
    import transformers as transformers
    from PIL import Image as Image
    from pyspark import sql as sql
    from scipy import (
        linalg as linalg,
        optimize as optimize,
        sparse as sparse,
        special as special,
        stats as stats,
    )
else:

    class _Library(ModuleType):
        def __getattr__(self, name: str) -> Any:
            # Tools look for such names in every module: that imports nothing.
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(importlib.import_module(self.__name__), name)

    pandas, sql = _Library("pandas"), _Library("pyspark.sql")
    diffusers, huggingface_hub = _Library("diffusers"), _Library("huggingface_hub")
    safetensors, torch = _Library("safetensors"), _Library("torch")
    transformers, Image = _Library("transformers"), _Library("PIL.Image")
    linalg, optimize = _Library("scipy.linalg"), _Library("scipy.optimize")
    sparse, special = _Library("scipy.sparse"), _Library("scipy.special")
    stats, sklearn = _Library("scipy.stats"), _Library("sklearn")

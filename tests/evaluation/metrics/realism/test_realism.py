"""Realism scores: checkpoints in the published layouts, of tiny random models."""

import hashlib

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from PIL import Image  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from timm.models.vision_transformer import VisionTransformer  # noqa: E402
from transformers import BlipTextConfig, BlipTextModel, CLIPImageProcessorPil  # noqa: E402

from cobalance.base.errors import CobalanceError  # noqa: E402
from cobalance.evaluation.metrics import METRICS  # noqa: E402
from cobalance.evaluation.metrics.metric import ImageSet, Inputs  # noqa: E402
from cobalance.evaluation.training.features import FEATURES  # noqa: E402
from cobalance.generation.filters import FILTERS  # noqa: E402
from tests.tiny.open_clip import as_open_clip  # noqa: E402
from tests.tiny.vision import save_clip  # noqa: E402

PROMPTS = ["the sea", "a photo of the cat", "in and of the sea"]
SIZES = [(24, 40), (1, 1), (33, 32)]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Three images of odd sizes, with a caption each; the first has a second one."""
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    names = []
    for at, size in enumerate(SIZES):
        names.append(f"{at}.png")
        pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / names[-1])
    captions = pd.DataFrame({"image": [*names, names[0]], "caption": [*PROMPTS, "another"]})
    images = ImageSet("here", names, lambda row: (folder / names[row]).read_bytes())
    return Inputs(images=images, captions=captions.iloc[::-1].iloc[[3, 0, 1, 2]])


def random_head(width, prefix=""):
    """A head in the published layout: five linear layers among dropout."""
    widths = [width, 24, 12, 6, 3, 1]
    pairs = zip((0, 2, 4, 6, 7), widths, widths[1:], strict=False)
    weights = {}
    for at, before, after in pairs:
        weights[f"{prefix}layers.{at}.weight"] = torch.randn(after, before)
        weights[f"{prefix}layers.{at}.bias"] = torch.randn(after)
    return weights


def through(weights, values, prefix=""):
    for at in (0, 2, 4, 6, 7):
        layer = f"{prefix}layers.{at}"
        values = values @ weights[f"{layer}.weight"].numpy().T + weights[f"{layer}.bias"].numpy()
    return values[:, 0]


def saved(weights, path):
    torch.save(weights, path)
    return {"weights": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def scored(name, inputs, options):
    return METRICS.open(name, options)(inputs).iloc[0]


def test_aesthetic_is_a_head_on_normalised_embeddings(inputs, tmp_path):
    model = str(save_clip(tmp_path / "clip"))
    torch.manual_seed(1)
    head = random_head(16)
    options = {"model": model, "device": "cpu", "batch_size": 2}
    embeddings = FEATURES.open("clip", {"model": model}).vision
    with torch.inference_mode():
        pixels = embeddings.pixels(inputs.images.read(range(3)))
        found = embeddings.model.get_image_features(pixel_values=pixels).pooler_output.numpy()
    expected = through(head, found / np.linalg.norm(found, axis=1, keepdims=True))
    row = scored("aesthetic", inputs, options | saved(head, tmp_path / "head.pth"))
    assert row["value"] == pytest.approx(expected.mean(), rel=1e-4)
    half = 1.959964 * expected.std(ddof=1) / 3**0.5
    assert row["high"] - row["value"] == pytest.approx(half, rel=1e-3)
    assert row["n"] == 3
    save_file(head, tmp_path / "head.safetensors")
    safe = {"weights": str(tmp_path / "head.safetensors")}
    assert scored("aesthetic", inputs, options | safe)["value"] == row["value"]
    other = {**head, "layers.1.weight": torch.zeros(1)}
    for given, said in (
        ({"weights": "x.pth"}, "aesthetic downloads nothing by itself, and model is not given"),
        (options, "weights is not given"),
        (options | saved(random_head(9), tmp_path / "nine.pth"), "reads 9 features.*gives 16"),
        (options | saved(other, tmp_path / "other.pth"), r"layers\.1\.weight is unknown"),
    ):
        with pytest.raises(CobalanceError, match=said):
            scored("aesthetic", inputs, given)


def test_hps_reads_open_clips_layout(inputs, tmp_path):
    base, tuned = save_clip(tmp_path / "base"), save_clip(tmp_path / "tuned", seed=7)
    weights = {"state_dict": as_open_clip(load_file(tuned / "model.safetensors")), "epoch": 1}
    options = {"model": str(base), "device": "cpu"}
    clip = FILTERS.open("clip", {"model": str(tuned)})
    with torch.inference_mode():
        expected = clip.clip.cosines(inputs.images.read(range(3)), PROMPTS).mean()
    row = scored("hps", inputs, options | saved(weights, tmp_path / "hps.pt"))
    assert row["value"] == pytest.approx(expected, abs=1e-6)
    assert scored("hps", inputs, options)["value"] != pytest.approx(expected, abs=1e-3)
    assert scored("hps", inputs, {"model": str(tuned)})["value"] == pytest.approx(expected)
    wrong = {"weights": random_head(4)}
    for given, said in (
        ({}, "model is not given"),
        (options | saved(random_head(4), tmp_path / "wrong.pt"), "do not fit the model"),
        (options | saved(wrong, tmp_path / "nested.pt"), "not named tensors"),
    ):
        with pytest.raises(CobalanceError, match=said):
            scored("hps", inputs, given)


@pytest.fixture(scope="module")
def rewarding(tmp_path_factory):
    """A checkpoint of ImageReward's layout, its parts, and a vocabulary."""
    folder = tmp_path_factory.mktemp("reward")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *{w: 0 for p in PROMPTS for w in p.split()},
    ]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    torch.manual_seed(2)
    vision = VisionTransformer(32, 8, embed_dim=128, depth=2, num_heads=2, num_classes=0).eval()
    config = BlipTextConfig(
        vocab_size=len(words) + 2, hidden_size=64, encoder_hidden_size=128, intermediate_size=50,
        num_hidden_layers=2, num_attention_heads=1, max_position_embeddings=40,
    )  # fmt: skip
    text = BlipTextModel(config, add_pooling_layer=False).eval()
    for model in (vision, text):
        for values in model.parameters():
            values.data = torch.randn_like(values) * 0.1
    head = random_head(64, "mlp.")
    weights = {f"blip.visual_encoder.{name}": one for name, one in vision.state_dict().items()}
    weights |= {f"blip.text_encoder.{name}": one for name, one in text.state_dict().items()}
    weights["blip.text_encoder.embeddings.position_ids"] = torch.arange(40)[None]
    weights |= {"blip.vision_proj.weight": torch.ones(2, 128), "blip.text_proj.bias": torch.ones(2)}
    return folder, weights | head, words, vision, text


def test_image_reward_reads_its_own_layout(inputs, rewarding):
    folder, weights, words, vision, text = rewarding
    options = saved(weights, folder / "ImageReward.pt")
    options |= {"vocabulary": str(folder / "vocab.txt"), "device": "cpu", "batch_size": 2}
    square = {"height": 32, "width": 32}
    processor = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=square)
    states = []
    for pixels, prompt in zip(inputs.images.read(range(3)), PROMPTS, strict=True):
        image = processor(images=[Image.fromarray(pixels)], return_tensors="pt")["pixel_values"]
        ids = [2, *(words.index(word) for word in prompt.split()), 3]
        with torch.inference_mode():
            seen = vision.forward_features(image)
            read = text(input_ids=torch.tensor([ids]), encoder_hidden_states=seen)
        states.append(read.last_hidden_state[0, 0].numpy())
    rewards = (
        through(weights, np.stack(states), "mlp.") - 0.16717362830052426
    ) / 1.0333394966054072
    row = scored("image_reward", inputs, options)
    assert row["value"] == pytest.approx(rewards.mean(), rel=1e-4)
    assert row["low"] < row["value"] < row["high"]
    few = {name: one for name, one in weights.items() if "pos_embed" not in name}
    (folder / "empty.txt").write_text("", "utf-8")
    for given, said in (
        (
            saved(few, folder / "few.pt"),
            "not those of ImageReward: .*position_embedding is missing",
        ),
        ({"vocabulary": str(folder / "none.txt")}, "vocabulary .* cannot be read"),
        ({"vocabulary": str(folder / "empty.txt")}, "vocabulary fails|tells no words apart"),
    ):
        with pytest.raises(CobalanceError, match=said):
            scored("image_reward", inputs, options | given)


def test_each_image_needs_a_prompt(inputs):
    some = Inputs(images=inputs.images, captions=inputs.need("captions").iloc[:1])
    with pytest.raises(CobalanceError, match=r"2 of 3 images have no caption, such as '1\.png'"):
        scored("image_reward", some, {"weights": "w.pt", "vocabulary": "v.txt"})
    none = Inputs(images=inputs.images)
    with pytest.raises(CobalanceError, match="hps needs images and captions; given: images"):
        scored("hps", none, {"model": "m"})

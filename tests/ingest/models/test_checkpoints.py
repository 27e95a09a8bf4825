import json
import logging
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diffusers
import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertTokenizer, CLIPTextModel, CLIPTokenizer, Qwen2Tokenizer, T5Tokenizer

from generation.backends.paste import PasteOptions
from generation.backends.paste import open_backend as open_paste
from graph.errors import JobBlockedError, OptionError, OutOfMemoryError
from ingest.models.checkpoints import Checkpoint, find_checkpoint
from ingest.models.devices import choose_device, choose_dtype, out_of_memory
from ingest.models.loading import load_model, load_processor, quiet, software
from ingest.models.weight_files import choose_weights
from tests.tiny.other_pipelines import stable_3
from tests.tiny.text import MERGES, clip_tokenizer
from tests.tiny.vision import save_clip

Find = Callable[[str], str]
Copied = Callable[[str], Path]
UNET = "unet/diffusion_pytorch_model.safetensors"


def test_a_pipeline_in_a_folder(pipelines: Find) -> None:
    folder = pipelines("sd-text2img")
    checkpoint = find_checkpoint(folder)
    assert checkpoint.name == folder
    assert checkpoint.label == "sd-text2img"
    assert checkpoint.revision is None
    assert checkpoint.weights == (
        "text_encoder/model.safetensors",
        UNET,
        "vae/diffusion_pytorch_model.safetensors",
    )
    pipeline = load_model(diffusers.StableDiffusionPipeline, checkpoint, dtype=torch.float32)
    assert pipeline.unet.config.in_channels == 4


def test_a_model_of_transformers(pipelines: Find) -> None:
    folder = Path(pipelines("sd-text2img"))
    checkpoint = find_checkpoint(str(folder / "text_encoder"))
    assert checkpoint.weights == ("model.safetensors",)
    assert load_model(CLIPTextModel, checkpoint).config.hidden_size == 32
    tokenizer = load_processor(CLIPTokenizer, find_checkpoint(str(folder)), subfolder="tokenizer")
    assert tokenizer.model_max_length == 77


def test_the_digest_follows_the_content_and_not_the_place(copied: Copied, tmp_path: Path) -> None:
    folder = copied("sd-text2img")
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    digest = find_checkpoint(str(folder)).weights_sha256()
    assert digest == find_checkpoint(str(other)).weights_sha256()
    tensors = load_file(other / UNET)
    tensors["conv_in.bias"] = tensors["conv_in.bias"] + 1
    save_file(tensors, other / UNET, metadata={"format": "pt"})
    assert digest != find_checkpoint(str(other)).weights_sha256()


def test_the_digest_is_of_what_was_opened(copied: Copied) -> None:
    folder = copied("sd-text2img")
    checkpoint = find_checkpoint(str(folder))
    digest = checkpoint.weights_sha256()
    (folder / UNET).write_bytes(b"another model's")
    assert checkpoint.weights_sha256() == digest
    shutil.rmtree(folder)
    assert checkpoint.weights_sha256() == digest
    with pytest.raises(JobBlockedError, match=r"safetensors cannot be read \(FileNotFoundError"):
        Checkpoint("m", None, folder, (UNET,)).weights_sha256()


@pytest.mark.parametrize("name", ["/no/such/folder", "no-such-folder", "./no/folder", "a/b/c"])
def test_a_folder_that_is_not_there(name: str) -> None:
    with pytest.raises(JobBlockedError, match=r"there is no such folder\. Give the folder"):
        find_checkpoint(name)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match=r"neither model_index\.json nor config\.json"):
        find_checkpoint(str(tmp_path))


def test_a_folder_has_no_revisions(pipelines: Find) -> None:
    with pytest.raises(OptionError, match="a folder, which has no revision 'main'"):
        find_checkpoint(pipelines("sd-text2img"), revision="main")


def test_an_unreadable_index(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "model_index.json").write_text("{", "utf-8")
    with pytest.raises(JobBlockedError, match=r"model_index\.json cannot be read"):
        find_checkpoint(str(folder))


def test_weights_cut_short(copied: Copied) -> None:
    folder = copied("sd-text2img")
    whole = (folder / UNET).read_bytes()
    for length in (len(whole) - 1, 100, 0):
        (folder / UNET).write_bytes(whole[:length])
        with pytest.raises(JobBlockedError, match=f"{UNET} is damaged or cut short"):
            find_checkpoint(str(folder))


def test_pickles_are_refused(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).unlink()
    torch.save({"a": torch.zeros(1)}, folder / "unet" / "diffusion_pytorch_model.bin")
    with pytest.raises(JobBlockedError, match="unet: the weights are pickles, which can run any"):
        find_checkpoint(str(folder))


def test_missing_weights(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).unlink()
    with pytest.raises(JobBlockedError, match="unet: there are no weights"):
        find_checkpoint(str(folder))


@pytest.mark.parametrize("part", ["unet", "text_encoder", "vae"])
def test_a_missing_tensor_is_not_made_up(copied: Copied, part: str) -> None:
    folder = copied("sd-text2img")
    file = next((folder / part).glob("*.safetensors"))
    tensors = load_file(file)
    del tensors[sorted(tensors)[3]]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(JobBlockedError, match=r"is not a complete .*: 1 of its tensors"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_missing_part_is_an_error_of_loading(copied: Copied) -> None:
    folder = copied("sd-text2img")
    shutil.rmtree(folder / "scheduler")
    with pytest.raises(JobBlockedError, match="cannot be loaded as StableDiffusionPipeline"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("sd-text2img", "tokenizer"),
        ("sdxl-text2img", "tokenizer_2"),
        ("flux-fill", "tokenizer"),
        ("flux-fill", "tokenizer_2"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_tokenizer_without_words(copied: Copied, name: str, tokenizer: str, whole: bool) -> None:
    """Which transformers gives an empty vocabulary, so that prompts would not matter."""
    folder = copied(name)
    if whole:
        shutil.rmtree(folder / tokenizer)
    else:
        (folder / tokenizer / "tokenizer.json").unlink()
    with pytest.raises(JobBlockedError, match=r"incomplete: its tokenizer|cannot be loaded as"):
        load_model(diffusers.DiffusionPipeline, find_checkpoint(str(folder)))


def test_the_refusal_of_an_empty_tokenizer_says_what_to_do(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "tokenizer" / "tokenizer.json").unlink()
    message = r"incomplete: its tokenizer tells no words apart\. Copy or download the tokenizer's"
    with pytest.raises(JobBlockedError, match=message):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_tokenizer_that_does_not_know_how_much_is_read(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / "tokenizer" / "tokenizer_config.json").unlink()
    with pytest.raises(JobBlockedError, match=r"its tokenizer gives up to \d+ tokens, not 77\."):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_a_tokenizer_of_another_model(copied: Copied) -> None:
    folder = copied("sd-text2img")
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [*letters, *(f"{letter}</w>" for letter in letters)]
    words += ["<|startoftext|>", "<|endoftext|>"]
    small = {word: number for number, word in enumerate(words)}
    CLIPTokenizer(vocab=small, merges=[], model_max_length=77).save_pretrained(folder / "tokenizer")
    config = folder / "text_encoder" / "config.json"
    read = {**json.loads(config.read_text("utf-8")), "vocab_size": 40}
    (folder / "tokenizer" / "config.json").write_text(json.dumps(read), "utf-8")
    tokens = Checkpoint("m", None, folder / "tokenizer", ())
    with pytest.raises(JobBlockedError, match="knows 54 words, and its model 40"):
        load_processor(CLIPTokenizer, tokens)


@pytest.mark.parametrize("kind", [CLIPTokenizer, BertTokenizer, T5Tokenizer, Qwen2Tokenizer])
def test_a_processor_without_words(tmp_path: Path, kind: Any) -> None:
    folder = save_clip(tmp_path / "clip")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(JobBlockedError, match=r"incomplete|cannot be loaded"):
        load_processor(kind, find_checkpoint(str(folder)))


def test_small_tokenizers_are_tokenizers(tmp_path: Path) -> None:
    """Letters, or bytes with few merges; and of a model with room for more."""
    letters = [chr(code) for code in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    words += [f"##{letter}" for letter in letters]
    by_letter = BertTokenizer(vocab={word: number for number, word in enumerate(words)})
    clip = clip_tokenizer()
    vocabulary = {word.replace("</w>", "Ġ"): number for word, number in clip.get_vocab().items()}
    merges = [(one, other.replace("</w>", "Ġ")) for one, other in MERGES]
    by_byte = Qwen2Tokenizer(vocab=vocabulary, merges=merges)
    for tokenizer in (by_letter, by_byte, clip):
        folder = tmp_path / type(tokenizer).__name__
        tokenizer.save_pretrained(folder)
        config = {"text_config": {"vocab_size": len(tokenizer) + 100}}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        load_processor(type(tokenizer), Checkpoint("m", None, folder, ()))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (["transformers", "NoSuchModel"], r"needs NoSuchModel for text_encoder, which this tra"),
        (["transformers"], r'has \["transformers"\] for text_encoder, which is not a library and'),
        (["transformers", None], r"for text_encoder, which is not a library and a class of it"),
    ],
)
def test_an_index_that_names_no_class(copied: Copied, entry: list[str], problem: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "model_index.json"
    index = {**json.loads(file.read_text("utf-8")), "text_encoder": entry}
    file.write_text(json.dumps(index), "utf-8")
    with pytest.raises(JobBlockedError, match=problem):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_stable_diffusion_3_without_its_t5(tmp_path: Path, ask: Callable[..., Any]) -> None:
    whole = stable_3()
    parts = {**whole.components, "text_encoder_3": None, "tokenizer_3": None}
    with quiet():
        type(whole)(**parts).save_pretrained(tmp_path / "sd3")
    assert not list((tmp_path / "sd3").glob("*_3"))
    index = json.loads((tmp_path / "sd3" / "model_index.json").read_text("utf-8"))
    assert index["text_encoder_3"] == index["tokenizer_3"] == [None, None]
    checkpoint = find_checkpoint(str(tmp_path / "sd3"))
    pipeline = load_model(diffusers.AutoPipelineForText2Image, checkpoint)
    assert pipeline.text_encoder_3 is pipeline.tokenizer_3 is None
    settings = {"model": checkpoint.name, "steps": 1, "width_px": 64, "height_px": 64}
    made = open_paste(PasteOptions.model_validate(settings)).generate(ask())
    assert made[0].image.shape == (64, 64, 3)


@pytest.mark.parametrize("part", ["unet", "vae", "text_encoder", "tokenizer", "scheduler"])
def test_a_part_that_is_needed_and_null(copied: Copied, part: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "model_index.json"
    index = {**json.loads(file.read_text("utf-8")), part: [None, None]}
    file.write_text(json.dumps(index), "utf-8")
    with pytest.raises(JobBlockedError, match="cannot be loaded as StableDiffusionPipeline"):
        load_model(diffusers.StableDiffusionPipeline, find_checkpoint(str(folder)))


def test_the_variant_is_taken_where_a_part_has_nothing_else(copied: Copied) -> None:
    folder = copied("sd-text2img")
    (folder / UNET).rename(folder / "unet" / "diffusion_pytorch_model.fp16.safetensors")
    checkpoint = find_checkpoint(str(folder))
    assert checkpoint.variant == "fp16"
    assert "unet/diffusion_pytorch_model.fp16.safetensors" in checkpoint.weights
    load_model(diffusers.StableDiffusionPipeline, checkpoint)


def test_shards() -> None:
    names = {f"model-0000{shard}-of-00003.safetensors" for shard in (1, 2, 3)} | {"config.json"}
    weights, variant = choose_weights("The model m", names, None)
    assert len(weights) == 3
    assert variant is None
    with pytest.raises(JobBlockedError, match="2 of 3 files of weights are there"):
        choose_weights("The model m", names - {"model-00002-of-00003.safetensors"}, None)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipelines: Find) -> Path:
    """A cache of the hub with one commit of one repository, as downloads leave it."""
    commit = "a" * 40
    cached = tmp_path / "models--tiny--sd"
    shutil.copytree(pipelines("sd-text2img"), cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit, "utf-8")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return cached / "snapshots" / commit


def test_offline_the_cache_serves(hub: Path) -> None:
    checkpoint = find_checkpoint("tiny/sd", offline=True)
    assert (checkpoint.name, checkpoint.label) == ("tiny/sd", "tiny/sd")
    assert (checkpoint.revision, checkpoint.folder) == ("a" * 40, hub)
    assert find_checkpoint("tiny/sd", "a" * 40, offline=True) == checkpoint
    load_model(diffusers.StableDiffusionPipeline, checkpoint)


def test_offline_what_is_not_cached_is_refused(hub: Path) -> None:
    with pytest.raises(JobBlockedError, match=r"tiny/other is not on this machine.*hf download"):
        find_checkpoint("tiny/other", offline=True)
    with pytest.raises(JobBlockedError, match="tiny/sd of revision v2 is not on this machine"):
        find_checkpoint("tiny/sd", "v2", offline=True)


def test_only_what_is_loaded_is_downloaded(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(path.relative_to(hub)) for path in hub.rglob("*") if path.is_file()]
    names += ["v1-5-pruned.safetensors", "v1-5.ckpt", "safety_checker/model.safetensors"]
    names += ["unet/diffusion_pytorch_model.fp16.safetensors", "unet/diffusion_pytorch_model.bin"]
    asked: dict[str, Any] = {}

    def info(_: object, model: str, revision: str | None) -> SimpleNamespace:
        files = [SimpleNamespace(rfilename=name) for name in names]
        return SimpleNamespace(sha=hub.name, siblings=files)

    def snapshot(model: str, **options: Any) -> str:
        asked.update(options)
        return str(hub)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    monkeypatch.setattr(
        huggingface_hub, "hf_hub_download", lambda model, name, revision: str(hub / name)
    )
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    checkpoint = find_checkpoint("tiny/sd", "main")
    assert asked["revision"] == "main"  # which the cache remembers, for a later time offline
    assert checkpoint.revision == hub.name
    assert sorted(asked["allow_patterns"]) == sorted(
        str(path.relative_to(hub)) for path in hub.rglob("*") if path.is_file()
    )


def test_a_hub_that_fails_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*args: object, **options: object) -> None:
        raise ConnectionError("Name or service not known\nand more")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", unreachable)
    with pytest.raises(JobBlockedError, match=r"tiny/sd cannot be downloaded: ConnectionError: "):
        find_checkpoint("tiny/sd")


def test_quiet_puts_everything_back() -> None:
    logger = logging.getLogger("diffusers")
    before = logger.level
    with quiet():
        assert logger.level == logging.ERROR
        warnings.warn("noise", stacklevel=1)
    assert logger.level == before


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(OptionError, match="torch has no device 'gpu'"):
        choose_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    assert choose_device("auto") == torch.device("cuda")
    assert choose_device("cuda:1") == torch.device("cuda:1")
    assert choose_dtype("auto", torch.device("cuda")) == torch.float16
    with pytest.raises(OptionError, match=r"no device 'cuda:2' .*cpu, cuda:0, cuda:1"):
        choose_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    assert choose_dtype("auto", torch.device("cuda")) == torch.bfloat16
    assert choose_dtype("float32", torch.device("cuda")) == torch.float32


def test_no_half_precision_on_a_cpu() -> None:
    assert choose_dtype("bfloat16", torch.device("cpu")) == torch.bfloat16
    with pytest.raises(OptionError, match="does not compute these models in float16"):
        choose_dtype("float16", torch.device("cpu"))
    with pytest.raises(OptionError, match="Unknown precision 'int8'"):
        choose_dtype("int8", torch.device("cpu"))


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("x"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
        MemoryError(),
    ],
)
def test_full_memory(error: Exception) -> None:
    with (
        pytest.raises(OutOfMemoryError, match="too little memory for 3 cats"),
        out_of_memory("3 cats"),
    ):
        raise error


def test_other_errors_pass() -> None:
    with pytest.raises(RuntimeError, match="shapes differ"), out_of_memory("3 cats"):
        raise RuntimeError("shapes differ")


def test_versions_are_those_installed() -> None:
    assert list(software("torch", "no-such-package")) == ["torch"]
    assert torch.__version__.startswith(software("torch")["torch"])

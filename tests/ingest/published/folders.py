"""Folders of images whose names say the class, the split, and what is behind or beside it."""

from pathlib import Path

from tests.ingest.published.form import form, put, put_pictures, seen


def _some(*levels: tuple[str, ...], name: str = "{}.jpg") -> list[str]:
    """Paths of a picture in each combination of folders."""
    paths = [""]
    for folders in levels:
        paths = [f"{path}{folder}/" for path in paths for folder in folders]
    return [f"{path}{name.format(number)}" for number, path in enumerate(paths, start=1)]


_FLOWERS = ["daisy/1.jpg", "daisy/2.jpg", "rose/3.jpg", "rose/4.png"]


@form(
    "A folder for each class",
    "flowers",
    {path: seen(cls=path.split("/")[0]) for path in _FLOWERS},
)
def class_folders(folder: Path) -> None:
    """torchvision, ImageFolder: a folder for each class."""
    put_pictures(folder / "flowers", _FLOWERS)


_IMAGENETTE = _some(("train", "val"), ("n02979186", "n03445777"), name="{}.JPEG")


@form(
    "Imagenette, EuroSAT and others: a folder for each split, and in it for each class",
    "imagenette2",
    {path: seen(cls=path.split("/")[1], split=path.split("/")[0]) for path in _IMAGENETTE},
)
def split_folders(folder: Path) -> None:
    """fastai/imagenette: train and val, in each a folder for each class."""
    put_pictures(folder / "imagenette2", _IMAGENETTE)


_NICO = _some(("autumn", "rock"), ("bear", "cat"), name="{}_x.jpg")


@form(
    "NICO++",
    'public_dg_0416 --path-pattern "{split}/{context}/{class}/*"',
    {
        f"train/{path}": seen(f"context: {context}", cls=cls, split="train")
        for path in _NICO
        for context, cls in [path.split("/")[:2]]
    },
)
def nico(folder: Path) -> None:
    """YyzHarry/SubpopBench, nicopp: public_dg_0416/train/context/class."""
    put_pictures(folder / "public_dg_0416/train", _NICO)


def _domains(name: str, title: str, levels: tuple[tuple[str, ...], ...], file: str) -> None:
    paths = _some(*levels, name=file)
    truth = {
        path: seen(f"domain: {domain}", cls=cls)
        for path in paths
        for domain, cls in [path.split("/")[:2]]
    }

    def write(folder: Path) -> None:
        put_pictures(folder / name, paths)

    write.__name__ = name.lower()
    write.__doc__ = "facebookresearch/DomainBed, datasets: a folder for each domain, then class."
    form(title, f'{name} --path-pattern "{{domain}}/{{class}}/*"', truth)(write)


_domains("PACS", "PACS", (("art_painting", "photo"), ("dog", "guitar")), "pic_{:03}.jpg")
_domains("OfficeHome", "Office-Home", (("Art", "Real World"), ("Bed", "Soda")), "{:05}.jpg")
_domains("VLCS", "VLCS", (("Caltech101", "LabelMe"), ("bird", "car")), "{}.jpg")
_domains("Terra", "TerraIncognita", (("location_38", "location_43"), ("bird", "cat")), "a{}.jpg")


_METASHIFT = [
    "train/cat/cat(indoor)/2317182.jpg",
    "train/dog/dog(outdoor)/2320273.jpg",
    "test/cat/cat(outdoor)/2315503.jpg",
    "test/dog/dog(indoor)/2320630.jpg",
]


@form(
    "MetaShift",
    'MetaShift-Cat-Dog-indoor-outdoor --path-pattern "{split}/{class}/{class}({context})/*"',
    {
        path: seen(f"context: {path.split('(')[1].split(')')[0]}", cls=path.split("/")[1],
                   split=path.split("/")[0])
        for path in _METASHIFT
    },
)  # fmt: skip
def metashift(folder: Path) -> None:
    """Weixin-Liang/MetaShift and YyzHarry/SubpopBench: class/class(context)."""
    put_pictures(folder / "MetaShift-Cat-Dog-indoor-outdoor", _METASHIFT)


_URBAN = [
    f"obj-{obj}_bg-{bg}_co_occur_obj-{thing}/{number:03}.jpg"
    for number, (obj, bg, thing) in enumerate(
        (obj, bg, thing)
        for obj in ("urban", "country")
        for bg in ("urban", "country")
        for thing in ("urban", "country")
    )
]


@form(
    "UrbanCars",
    'bg-0.95_co_occur_obj-0.95 --path-pattern'
    ' "{split}/obj-{class}_bg-{background}_co_occur_obj-{thing}/*"',
    {
        f"train/{path}": seen(f"background: {bg}", f"thing: {thing}", cls=obj, split="train")
        for path in _URBAN
        for obj, bg, thing in [
            [part.rsplit("-", 1)[1] for part in path.split("/")[0].replace("_co_occur_obj",
             "_co-occur-obj").split("_")]
        ]
    },
)  # fmt: skip
def urbancars(folder: Path) -> None:
    """facebookresearch/Whac-A-Mole, dataset/urbancars.py: all three in the folder's name."""
    put_pictures(folder / "bg-0.95_co_occur_obj-0.95/train", _URBAN)


_SPAWRIOUS = [
    f"{number}/{place}/{breed}/{place}_{breed}_{number}.png"
    for number in (0, 1)
    for place in ("jungle", "snow")
    for breed in ("bulldog", "corgi")
]


@form(
    "Spawrious",
    'spawrious224 --path-pattern "{location}/{class}/*"',
    {path: seen(f"location: {path.split('/')[1]}", cls=path.split("/")[2]) for path in _SPAWRIOUS},
)
def spawrious(folder: Path) -> None:
    """aengusl/spawrious: spawrious224/number/location/breed."""
    put_pictures(folder / "spawrious224", _SPAWRIOUS)


_IN9 = _some(("mixed_rand", "only_fg"), ("val",), ("00_dog", "02_wheeled vehicle"), name="n{}.JPEG")


@form(
    "ImageNet-9",
    'bg_challenge --path-pattern "{background}/{split}/*_{class}/*"',
    {
        path: seen(f"background: {path.split('/')[0]}", cls=path.split("/")[2].split("_")[1],
                   split="val")
        for path in _IN9
    },
)  # fmt: skip
def imagenet9(folder: Path) -> None:
    """MadryLab/backgrounds_challenge: a folder for each variation, val, number_class."""
    put_pictures(folder / "bg_challenge", _IN9)


_SYNSETS = {"n01440764": "tench, Tinca tinca", "n01443537": "goldfish, Carassius auratus"}


@form(
    "ImageNet (ILSVRC 2012)",
    "ILSVRC/Data/CLS-LOC/train",
    {f"{synset}/{synset}_{at}.JPEG": seen(cls=synset) for synset in _SYNSETS for at in (18, 37)},
)
def imagenet(folder: Path) -> None:
    """Kaggle's ImageNet Object Localization Challenge: folders of synsets, their names beside."""
    names = [f"{synset}/{synset}_{at}.JPEG" for synset in _SYNSETS for at in (18, 37)]
    put_pictures(folder / "ILSVRC/Data/CLS-LOC/train", names)
    lines = "".join(f"{synset} {name}\n" for synset, name in _SYNSETS.items())
    put(folder / "LOC_synset_mapping.txt", lines)


@form(
    "Tiny ImageNet",
    'tiny-imagenet-200/train --path-pattern "{class}/images/*"',
    {f"{synset}_{at}.JPEG": seen(cls=synset) for synset in _SYNSETS for at in (0, 1)},
)
def tiny_imagenet(folder: Path) -> None:
    """CS231n, Tiny ImageNet: class/images, with a list of boxes beside the images."""
    for synset in _SYNSETS:
        root = folder / "tiny-imagenet-200/train" / synset
        put_pictures(root / "images", [f"{synset}_{at}.JPEG" for at in (0, 1)])
        lines = "".join(f"{synset}_{at}.JPEG\t0\t10\t63\t40\n" for at in (0, 1))
        put(root / f"{synset}_boxes.txt", lines)


_UTK = [
    "25_0_2_20170116174525125.jpg.chip.jpg",
    "61_1_0_20170109013456789.jpg.chip.jpg",
    "8_1_3_20161219203650636.jpg.chip.jpg",
    "34_0_0_20170117180345678.jpg.chip.jpg",
]
_RACES = ("White", "Black", "Asian", "Indian", "Others")


@form(
    "UTKFace",
    'UTKFace --path-pattern "{age}_{gender}_{race}_*" --field age=bins:18,40'
    " --names gender:0=male,1=female --names race:0=White,1=Black,2=Asian,3=Indian,4=Others",
    {
        name: seen(f"gender: {('male', 'female')[int(gender)]}", f"race: {_RACES[int(race)]}")
        for name in _UTK
        for _, gender, race, _ in [name.split("_")]
    },
    "age",
)
def utkface(folder: Path) -> None:
    """UTKFace, Labels: age_gender_race_time in the name of each file."""
    put_pictures(folder / "UTKFace", _UTK)


_SCENES = {"ADE_train_00000001": "airport_terminal", "ADE_train_00000002": "street",
           "ADE_train_00000003": "street", "ADE_val_00000001": "street"}  # fmt: skip


@form(
    "ADE20K scene parsing",
    "ADEChallengeData2016/images --join ADEChallengeData2016/sceneCategories.txt"
    " --class-column sceneCategories",
    {
        f"{name}.jpg": seen(cls=scene, split="train" if "train" in name else "val")
        for name, scene in _SCENES.items()
    },
)
def ade20k_scenes(folder: Path) -> None:
    """CSAILVision/sceneparsing: images of training and validation, and a list of their scenes."""
    root = folder / "ADEChallengeData2016"
    for name in _SCENES:
        split = "training" if "train" in name else "validation"
        put_pictures(root / "images" / split, [f"{name}.jpg"])
    put(root / "sceneCategories.txt", "".join(f"{k} {v}\n" for k, v in _SCENES.items()))


_PETS = ["train/cat.0.jpg", "train/cat.1.jpg", "train/dog.0.jpg", "train/dog.1.jpg"]


@form(
    "Dogs vs. Cats",
    'dogs-vs-cats --path-pattern "{split}/{class}.*.jpg"',
    {path: seen(cls=path[6:9], split="train") for path in _PETS},
)
def dogs_vs_cats(folder: Path) -> None:
    """Kaggle, Dogs vs. Cats: the class is in the name of each file."""
    put_pictures(folder / "dogs-vs-cats", _PETS)


_DOGS = _some(("n02085620-Chihuahua", "n02085782-Japanese_spaniel"), name="n_{}.jpg")


@form(
    "Stanford Dogs",
    'Images --path-pattern "*-{class}/*"',
    {path: seen(cls=path.split("/")[0].split("-")[1]) for path in _DOGS},
)
def stanford_dogs(folder: Path) -> None:
    """vision.stanford.edu, Stanford Dogs: folders of a synset and a breed."""
    put_pictures(folder / "Images", _DOGS)


_SPUCO = _some(("train", "val"), ("landbirds", "waterbirds"), ("land", "water"))


@form(
    "SpuCoAnimals",
    'spuco_birds --path-pattern "{split}/{class}/{background}/*"',
    {
        path: seen(f"background: {place}", cls=cls, split=split)
        for path in _SPUCO
        for split, cls, place, _ in [path.split("/")]
    },
)
def spuco_animals(folder: Path) -> None:
    """BigML-CS-UCLA/SpuCo, spuco_birds.py: split, class, background."""
    put_pictures(folder / "spuco_birds", _SPUCO)


_FOOD = {"apple_pie/1005649": "train", "apple_pie/1011328": "test", "waffles/1034462": "train",
         "waffles/1043283": "test"}  # fmt: skip


@form(
    "Food-101",
    "food-101/images --join food-101/meta/train.txt --join food-101/meta/test.txt",
    {f"{path}.jpg": seen(cls=path.split("/")[0], split=split) for path, split in _FOOD.items()},
)
def food101(folder: Path) -> None:
    """data.vision.ee.ethz.ch, Food-101: lists of paths without an ending, called by their split."""
    put_pictures(folder / "food-101/images", [f"{path}.jpg" for path in _FOOD])
    for split in ("train", "test"):
        lines = "".join(f"{path}\n" for path, of in _FOOD.items() if of == split)
        put(folder / f"food-101/meta/{split}.txt", lines)

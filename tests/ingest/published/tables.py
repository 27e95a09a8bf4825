"""Tables of images: metadata columns, flags, codes, lists, several files."""

import json
from pathlib import Path

from tests.ingest.published.form import (
    form,
    put,
    put_csv,
    put_json,
    put_lines,
    put_pictures,
    seen,
)

CAR, BUS = (8, 12, 16, 24), (30, 10, 20, 30)


@form(
    "Waterbirds",
    "waterbird_complete95_forest2water2/metadata.csv --names y:0=landbird,1=waterbird"
    " --names place:0=land,1=water --names split:0=train,1=val,2=test",
    {
        "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg":
            seen("place: land", cls="waterbird", split="train"),
        "001.Black_footed_Albatross/Black_Footed_Albatross_0009_34.jpg":
            seen("place: water", cls="waterbird", split="train"),
        "004.Groove_billed_Ani/Groove_Billed_Ani_0002_1670.jpg":
            seen("place: land", cls="landbird", split="val"),
        "004.Groove_billed_Ani/Groove_Billed_Ani_0115_1673.jpg":
            seen("place: land", cls="landbird", split="train"),
        "009.Brewer_Blackbird/Brewer_Blackbird_0028_2682.jpg":
            seen("place: water", cls="landbird", split="test"),
    },
)  # fmt: skip
def waterbirds(folder: Path) -> None:
    """kohpangwei/group_DRO, Waterbirds: codes of class, background and split."""
    put(
        folder / "waterbird_complete95_forest2water2/metadata.csv",
        "img_id,img_filename,y,split,place,place_filename\n"
        "1,001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg,1,0,0,"
        "/b/bamboo_forest/00000081.jpg\n"
        "2,001.Black_footed_Albatross/Black_Footed_Albatross_0009_34.jpg,1,0,1,"
        "/o/ocean/00000081.jpg\n"
        "3,004.Groove_billed_Ani/Groove_Billed_Ani_0002_1670.jpg,0,1,0,"
        "/b/bamboo_forest/00000931.jpg\n"
        "4,004.Groove_billed_Ani/Groove_Billed_Ani_0115_1673.jpg,0,0,0,"
        "/f/forest/broadleaf/00002045.jpg\n"
        "5,009.Brewer_Blackbird/Brewer_Blackbird_0028_2682.jpg,0,2,1,"
        "/l/lake/natural/00001220.jpg\n",
    )


@form(
    "CelebA",
    "celeba/list_attr_celeba.txt --join celeba/list_eval_partition.txt"
    " --join celeba/identity_CelebA.txt --split-column list_eval_partition"
    " --names list_eval_partition:0=train,1=val,2=test --cluster-column identity_CelebA",
    {
        "000001.jpg": seen("Smiling", "Young", split="train"),
        "000002.jpg": seen("Blond_Hair", "Young", split="train"),
        "000003.jpg": seen("Male", split="val"),
        "000004.jpg": seen("Male", "Smiling", "Young", split="test"),
    },
)
def celeba(folder: Path) -> None:
    """CelebA, README: a count, names of attributes, then 1 and -1; lists of parts and people."""
    put(
        folder / "celeba/list_attr_celeba.txt",
        "4\nBlond_Hair Male Smiling Young \n"
        "000001.jpg -1 -1  1  1\n000002.jpg  1 -1 -1  1\n"
        "000003.jpg -1  1 -1 -1\n000004.jpg -1  1  1  1\n",
    )
    put(
        folder / "celeba/list_eval_partition.txt",
        "000001.jpg 0\n000002.jpg 0\n000003.jpg 1\n000004.jpg 2\n",
    )
    put(
        folder / "celeba/identity_CelebA.txt",
        "000001.jpg 2880\n000002.jpg 2937\n000003.jpg 8692\n000004.jpg 8692\n",
    )


@form(
    "CelebA with a class",
    "list_attr_celeba.txt --class-column Blond_Hair",
    {
        "000001.jpg": seen("Smiling", cls="not Blond_Hair"),
        "000002.jpg": seen("Male", cls="Blond_Hair"),
        "000003.jpg": seen("Male", "Smiling", cls="not Blond_Hair"),
    },
)
def celeba_class(folder: Path) -> None:
    """CelebA, README: one of the attributes is the class."""
    put(
        folder / "list_attr_celeba.txt",
        "3\nBlond_Hair Male Smiling \n000001.jpg -1 -1  1\n000002.jpg  1  1 -1\n"
        "000003.jpg -1  1  1\n",
    )


_FAIRFACE = [
    ("train/1.jpg", "50-59", "Male", "East Asian", True),
    ("train/2.jpg", "30-39", "Female", "Indian", False),
    ("train/3.jpg", "3-9", "Female", "Black", False),
    ("train/4.jpg", "more than 70", "Male", "East Asian", True),
    ("val/1.jpg", "3-9", "Male", "East Asian", False),
    ("val/2.jpg", "50-59", "Female", "East Asian", True),
]


@form(
    "FairFace",
    "fairface",
    {
        file: seen(
            f"age: {age}", f"gender: {gender}", f"race: {race}", *["service_test"] * test,
            split=file.split("/")[0],
        )
        for file, age, gender, race, test in _FAIRFACE
    },
)  # fmt: skip
def fairface(folder: Path) -> None:
    """joojs/fairface: a table for train and one for val, beside the folders of the images."""
    root = folder / "fairface"
    put_pictures(root, [row[0] for row in _FAIRFACE])
    for split in ("train", "val"):
        rows = [row for row in _FAIRFACE if row[0].startswith(split)]
        header = "file,age,gender,race,service_test"
        put_csv(root / f"fairface_label_{split}.csv", header, rows)


_MASC, _FEM = "gender_presentation_masc", "gender_presentation_fem"
_YOUNG, _MIDDLE = "age_presentation_young", "age_presentation_middle"
_FACET_HEADER = (
    f"person_id,class1,class2,bounding_box,filename,{_MASC},{_FEM},{_YOUNG},{_MIDDLE},"
    "skin_tone_3,skin_tone_7,has_eyewear,visible_face"
)
_FACET = [
    (2443, "backpacker", "", CAR, "sa_1130.jpg", 1, 0, 1, 0, 3, 0, 0, 1),
    (2444, "guide", "backpacker", BUS, "sa_1130.jpg", 0, 1, 0, 1, 2, 1, 1, 1),
    (5210, "nurse", "", CAR, "sa_2207.jpg", 0, 1, 0, 1, 0, 3, 0, 1),
    (5312, "nurse", "", BUS, "sa_2391.jpg", 0, 1, 1, 0, 1, 2, 1, 0),
    (6001, "guide", "", CAR, "sa_3004.jpg", 1, 0, 0, 0, 0, 3, 0, 0),
]
_FACET_TRUTH = {
    "sa_1130.jpg": seen(_MASC, _FEM, _YOUNG, _MIDDLE, "has_eyewear", "visible_face",
                        **{"class1: backpacker": CAR, "class1: guide": BUS,
                           "class2: backpacker": BUS}),
    "sa_2207.jpg": seen(_FEM, _MIDDLE, "visible_face", **{"class1: nurse": CAR}),
    "sa_2391.jpg": seen(_FEM, _YOUNG, "has_eyewear", **{"class1: nurse": BUS}),
    "sa_3004.jpg": seen(_MASC, **{"class1: guide": CAR}),
}  # fmt: skip


def _facet(folder: Path) -> None:
    root = folder / "facet"
    rows = [
        (*row[:3], json.dumps(dict(zip(("x", "y", "width", "height"), row[3], strict=True))),
         *row[4:])
        for row in _FACET
    ]  # fmt: skip
    put_csv(root / "annotations/annotations.csv", _FACET_HEADER, rows)
    for at, name in enumerate(_FACET_TRUTH):
        put_pictures(root / f"imgs_{1 + at % 3}", [name])


_TONES = ("skin_tone_3", "skin_tone_7")


@form("FACET", "facet/annotations/annotations.csv", _FACET_TRUTH, *_TONES)
def facet(folder: Path) -> None:
    """FACET, dataset card: a row a person, boxes as JSON, skin tones as votes of annotators."""
    _facet(folder)


@form("FACET, its folder", "facet", _FACET_TRUTH, *_TONES)
def facet_folder(folder: Path) -> None:
    """FACET, dataset card: annotations beside imgs_1 to imgs_3, which are no classes."""
    _facet(folder)


_CHEXPERT_HEADER = (
    "Path,Sex,Age,Frontal/Lateral,AP/PA,No Finding,Cardiomegaly,Lung Opacity,Edema,Pleural Effusion"
)
_AT = "study1/view1_frontal.jpg"
_CHEXPERT = [
    (f"train/patient00001/{_AT}", "Female", 68, "Frontal", "AP", "1.0,,,,0.0"),
    ("train/patient00002/study2/view1_front.jpg", "Female", 87, "Frontal", "AP", ",-1.0,1.0,-1.0,"),
    ("train/patient00002/study1/view2_lateral.jpg", "Female", 83, "Lateral", "", ",,1.0,0.0,-1.0"),
    (f"train/patient00003/{_AT}", "Male", 41, "Frontal", "PA", ",0.0,,1.0,1.0"),
    (f"valid/patient64541/{_AT}", "Male", 73, "Frontal", "AP", "0.0,1.0,1.0,0.0,1.0"),
    ("valid/patient64542/study1/view2_lat.jpg", "Female", 70, "Lateral", "", "0.0,0.0,0.0,0.0,0.0"),
]  # fmt: skip
_FINDINGS = _CHEXPERT_HEADER.split(",")[5:]
_CHEXPERT_TRUTH = {
    path: seen(
        f"Sex: {sex}",
        f"Frontal/Lateral: {view}",
        *([f"AP/PA: {side}"] if side else []),
        *(name for name, flag in zip(_FINDINGS, flags.split(","), strict=True) if flag == "1.0"),
        split="train" if path.startswith("train") else "val",
    )
    for path, sex, _, view, side, flags in _CHEXPERT
}


@form("CheXpert", "CheXpert-v1.0-small", _CHEXPERT_TRUTH, "Age")
def chexpert(folder: Path) -> None:
    """CheXpert: a table for train and valid; 1 found, 0 not, -1 uncertain, empty not mentioned."""
    root = folder / "CheXpert-v1.0-small"
    put_pictures(root, [row[0] for row in _CHEXPERT])
    for split in ("train", "valid"):
        lines = "".join(
            f"CheXpert-v1.0-small/{path},{sex},{age},{view},{side},{flags}\n"
            for path, sex, age, view, side, flags in _CHEXPERT
            if path.startswith(split)
        )
        put(root / f"{split}.csv", f"{_CHEXPERT_HEADER}\n{lines}")


@form(
    "CheXpert, one table",
    'CheXpert-v1.0-small/train.csv --path-pattern "{split}/{cluster}/*/*"',
    {path: one for path, one in _CHEXPERT_TRUTH.items() if one.split == "train"},
    "Age",
)
def chexpert_table(folder: Path) -> None:
    """CheXpert: the folder of a path is the patient, whose images belong together."""
    chexpert(folder)


@form(
    "NIH ChestX-ray14",
    'Data_Entry_2017.csv --id-column "Image Index" --cluster-column "Patient ID"',
    {
        "00000001_000.png": seen("Finding Labels: Cardiomegaly", "Patient Gender: M",
                                 "View Position: PA"),
        "00000001_001.png": seen("Finding Labels: Cardiomegaly", "Finding Labels: Emphysema",
                                 "Patient Gender: M", "View Position: PA"),
        "00000002_000.png": seen("Finding Labels: No Finding", "Patient Gender: F",
                                 "View Position: AP"),
        "00000003_000.png": seen("Finding Labels: Hernia", "Patient Gender: F",
                                 "View Position: PA"),
        "00000003_001.png": seen("Finding Labels: Hernia", "Finding Labels: Infiltration",
                                 "Patient Gender: F", "View Position: PA"),
    },
    "Patient Age", "Follow-up #", "OriginalImage[Width", "Height]",
    "OriginalImagePixelSpacing[x", "y]",
)  # fmt: skip
def nih_chest(folder: Path) -> None:
    """NIH Clinical Center, ChestX-ray14, README: findings divided by |, an empty last column."""
    put(
        folder / "Data_Entry_2017.csv",
        "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,"
        "View Position,OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],\n"
        "00000001_000.png,Cardiomegaly,0,1,58,M,PA,2682,2749,0.143,0.143,\n"
        "00000001_001.png,Cardiomegaly|Emphysema,1,1,58,M,PA,2894,2729,0.143,0.143,\n"
        "00000002_000.png,No Finding,0,2,81,F,AP,2500,2048,0.171,0.171,\n"
        "00000003_000.png,Hernia,0,3,74,F,PA,2500,2048,0.168,0.168,\n"
        "00000003_001.png,Hernia|Infiltration,1,3,75,F,PA,2500,2048,0.168,0.168,\n",
    )


@form(
    "HAM10000",
    "HAM10000_metadata.csv --class-column dx --cluster-column lesion_id",
    {
        "ISIC_0027419": seen("dx_type: histo", "sex: male", "localization: scalp", cls="bkl"),
        "ISIC_0025030": seen("dx_type: histo", "sex: male", "localization: scalp", cls="bkl"),
        "ISIC_0024310": seen("dx_type: histo", "sex: female", "localization: back", cls="mel"),
        "ISIC_0024698": seen("dx_type: follow_up", "sex: female", "localization: back", cls="nv"),
        "ISIC_0024693": seen("dx_type: follow_up", "sex: unknown", "localization: trunk", cls="nv"),
        "ISIC_0024672": seen("dx_type: histo", "sex: male", "localization: trunk", cls="mel"),
    },
    "age",
)
def ham10000(folder: Path) -> None:
    """Harvard Dataverse, HAM10000: a row an image, several images of a lesion."""
    put(
        folder / "HAM10000_metadata.csv",
        "lesion_id,image_id,dx,dx_type,age,sex,localization\n"
        "HAM_0000118,ISIC_0027419,bkl,histo,80.0,male,scalp\n"
        "HAM_0000118,ISIC_0025030,bkl,histo,80.0,male,scalp\n"
        "HAM_0002730,ISIC_0024310,mel,histo,60.0,female,back\n"
        "HAM_0001466,ISIC_0024698,nv,follow_up,45.0,female,back\n"
        "HAM_0005132,ISIC_0024693,nv,follow_up,,unknown,trunk\n"
        "HAM_0005132,ISIC_0024672,mel,histo,70.0,male,trunk\n",
    )


@form(
    "ISIC 2019",
    "ISIC_2019_Training_GroundTruth.csv --join ISIC_2019_Training_Metadata.csv",
    {
        "ISIC_0000000": seen("NV", "anatom_site_general: anterior torso", "sex: female",
                             split="train"),
        "ISIC_0000001": seen("NV", "anatom_site_general: anterior torso", "sex: female",
                             split="train"),
        "ISIC_0000002": seen("MEL", "anatom_site_general: upper extremity", "sex: female",
                             split="train"),
        "ISIC_0000004": seen("MEL", "sex: male", split="train"),
        "ISIC_0000009": seen("BCC", "anatom_site_general: upper extremity", split="train"),
    },
    "age_approx",
)  # fmt: skip
def isic2019(folder: Path) -> None:
    """ISIC Challenge 2019: a column of 0 and 1 for each diagnosis, metadata in a second table."""
    put(
        folder / "ISIC_2019_Training_GroundTruth.csv",
        "image,MEL,NV,BCC,UNK\nISIC_0000000,0.0,1.0,0.0,0.0\nISIC_0000001,0.0,1.0,0.0,0.0\n"
        "ISIC_0000002,1.0,0.0,0.0,0.0\nISIC_0000004,1.0,0.0,0.0,0.0\n"
        "ISIC_0000009,0.0,0.0,1.0,0.0\n",
    )
    put(
        folder / "ISIC_2019_Training_Metadata.csv",
        "image,age_approx,anatom_site_general,lesion_id,sex\n"
        "ISIC_0000000,55.0,anterior torso,,female\nISIC_0000001,30.0,anterior torso,,female\n"
        "ISIC_0000002,60.0,upper extremity,BCN_0003884,female\nISIC_0000004,80.0,,,male\n"
        "ISIC_0000009,30.0,upper extremity,BCN_0003885,\n",
    )


@form(
    "WILDS iWildCam",
    "iwildcam_v2.0/metadata.csv --names y:0=empty,1=cow,24=cattle --cluster-column"
    " sequence_remapped --field location_remapped=values",
    {
        "8b31d3be-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 287", cls="cattle", split="train"),
        "8cf202be-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 287", cls="cattle", split="train"),
        "8a87ed0c-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 12", cls="empty", split="id_val"),
        "88eb07ac-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 12", cls="empty", split="val"),
        "8b31bb9a-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 30", cls="cow", split="test"),
        "979182a8-21bc-11ea-a13a-137349068a90.jpg":
            seen("location_remapped: 30", cls="cow", split="id_test"),
    },
)  # fmt: skip
def wilds_iwildcam(folder: Path) -> None:
    """p-lambda/wilds, iwildcam_dataset.py: codes of species, camera and sequence, and dates."""
    put(
        folder / "iwildcam_v2.0/metadata.csv",
        "split,location_remapped,sequence_remapped,datetime,y,filename\n"
        "train,287,11237,2013-06-05 05:44:19.000,24,8b31d3be-21bc-11ea-a13a-137349068a90.jpg\n"
        "train,287,11237,2013-06-05 05:44:20.000,24,8cf202be-21bc-11ea-a13a-137349068a90.jpg\n"
        "id_val,12,803,2013-07-09 16:00:24.000,0,8a87ed0c-21bc-11ea-a13a-137349068a90.jpg\n"
        "val,12,2206,2013-02-02 07:24:07.000,0,88eb07ac-21bc-11ea-a13a-137349068a90.jpg\n"
        "test,30,2206,2013-05-21 10:06:00.000,1,8b31bb9a-21bc-11ea-a13a-137349068a90.jpg\n"
        "id_test,30,510,2013-01-11 14:32:55.000,1,979182a8-21bc-11ea-a13a-137349068a90.jpg\n",
    )


@form(
    "WILDS FMoW",
    "fmow_v1.1/rgb_metadata.csv --class-column category --field timestamp=year",
    {
        "airport_0_0_rgb.jpg": seen("country_code: USA", "timestamp: 2009", cls="airport",
                                    split="train"),
        "airport_0_1_rgb.jpg": seen("country_code: USA", "timestamp: 2016", cls="airport",
                                    split="test"),
        "zoo_4_0_rgb.jpg": seen("country_code: FRA", "timestamp: 2009", cls="zoo", split="val"),
        "zoo_5_0_rgb.jpg": seen("country_code: USA", "timestamp: 2016", cls="zoo", split="seq"),
        "zoo_5_1_rgb.jpg": seen("country_code: FRA", "timestamp: 2016", cls="zoo", split="train"),
    },
    "cloud_cover",
)  # fmt: skip
def wilds_fmow(folder: Path) -> None:
    """p-lambda/wilds, fmow_dataset.py: category, country and time of satellite images."""
    put(
        folder / "fmow_v1.1/rgb_metadata.csv",
        "split,img_filename,category,country_code,cloud_cover,timestamp\n"
        "train,airport_0_0_rgb.jpg,airport,USA,0,2009-05-12T10:34:19Z\n"
        "test,airport_0_1_rgb.jpg,airport,USA,12,2016-08-27T15:59:11Z\n"
        "val,zoo_4_0_rgb.jpg,zoo,FRA,3,2009-10-03T11:20:48Z\n"
        "seq,zoo_5_0_rgb.jpg,zoo,USA,44,2016-03-30T18:44:02Z\n"
        "train,zoo_5_1_rgb.jpg,zoo,FRA,7,2016-04-01T18:41:53Z\n",
    )


@form(
    "WILDS Camelyon17",
    'camelyon17_v1.0/metadata.csv --id-column "column 1" --class-column tumor'
    " --names tumor:0=normal,1=tumor"
    " --names split:0=train,1=id_val --cluster-column slide --field center=values"
    " --field patient=ignore --field node=ignore --field x_coord=ignore --field y_coord=ignore",
    {
        str(row): seen(f"center: {center}", cls=("normal", "tumor")[tumor], split=split)
        for row, (center, tumor, split) in enumerate(
            [(0, 1, "train"), (0, 0, "train"), (2, 1, "id_val"), (2, 0, "train"), (1, 1, "train")]
        )
    },
)
def wilds_camelyon17(folder: Path) -> None:
    """p-lambda/wilds, camelyon17_dataset.py: the first column, the row's number, has no name."""
    put(
        folder / "camelyon17_v1.0/metadata.csv",
        ",patient,node,x_coord,y_coord,tumor,slide,center,split\n"
        "0,004,4,3328,21792,1,0,0,0\n1,004,4,3200,22272,0,0,0,0\n2,042,3,3168,22272,1,23,2,1\n"
        "3,042,3,3328,21760,0,23,2,0\n4,017,1,3232,22240,1,9,1,0\n",
    )


_CUB = [
    (1, "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg", 0),
    (2, "001.Black_footed_Albatross/Black_Footed_Albatross_0009_34.jpg", 1),
    (3, "002.Laysan_Albatross/Laysan_Albatross_0002_1027.jpg", 1),
    (4, "002.Laysan_Albatross/Laysan_Albatross_0003_1033.jpg", 0),
]
_CUB_COMMAND = (
    'CUB_200_2011/images.txt --path-pattern "{class}/*" --join CUB_200_2011/train_test_split.txt'
    " --split-column train_test_split --names train_test_split:0=test,1=train"
)


@form(
    "CUB-200-2011",
    _CUB_COMMAND,
    {path: seen(cls=path.split("/")[0], split=("test", "train")[at]) for _, path, at in _CUB},
)
def cub(folder: Path) -> None:
    """CUB-200-2011, README: lists without a header that share the number of an image."""
    root = folder / "CUB_200_2011"
    put(root / "images.txt", "".join(f"{number} {path}\n" for number, path, _ in _CUB))
    put(root / "train_test_split.txt", "".join(f"{number} {at}\n" for number, _, at in _CUB))
    put(root / "image_class_labels.txt", "1 1\n2 1\n3 2\n4 2\n")
    put(root / "classes.txt", "1 001.Black_footed_Albatross\n2 002.Laysan_Albatross\n")
    put(root / "attributes/attributes.txt",
        "1 has_bill_shape::hooked\n2 has_wing_color::brown\n3 has_wing_color::white\n")  # fmt: skip
    flags = {1: "110", 2: "100", 3: "101", 4: "001"}
    put(
        root / "attributes/image_attribute_labels.txt",
        "".join(
            f"{image} {attribute} {flag} 3 27.708\n"
            for image, shown in flags.items()
            for attribute, flag in enumerate(shown, start=1)
        ),
    )


@form(
    "CUB-200-2011 with its attributes",
    f"{_CUB_COMMAND} --join CUB_200_2011/attributes/image_attribute_labels.txt"
    " --names image_attribute_labels=CUB_200_2011/attributes/attributes.txt",
    {
        path: seen(*shown, cls=path.split("/")[0], split=("test", "train")[at])
        for (_, path, at), shown in zip(
            _CUB,
            [
                ["has_bill_shape::hooked", "has_wing_color::brown"],
                ["has_bill_shape::hooked"],
                ["has_bill_shape::hooked", "has_wing_color::white"],
                ["has_wing_color::white"],
            ],
            strict=True,
        )
    },
)
def cub_attributes(folder: Path) -> None:
    """CUB-200-2011, README: image, attribute, whether it is present, how certain, how long."""
    cub(folder)


@form(
    "Dollar Street",
    "dollar_street/images_v2_imagenet_test.csv --uri-column imageRelPath"
    " --field imagenet_sysnet_id=ignore",
    {
        f"assets/{key}/{key}.jpg": seen(
            f"country.name: {country}", f"country.id: {code}", f"region.id: {region}",
            *(f"topics: {topic}" for topic in topics),
            *(f"imagenet_synonyms: {name}" for name in names),
        )
        for key, country, code, region, topics, names in [
            ("5d4be5b7cf0b3a0f3f34e0ab", "Mexico", "mx", "am", ["Dish racks"], ["plate rack"]),
            ("5d4be01bcf0b3a0f3f33e8c5", "Mexico", "mx", "am", ["Cups", "Dish racks"],
             ["cup", "plate rack"]),
            ("5d4bdeb7cf0b3a0f3f33bce1", "Nigeria", "ng", "af", ["Cups"], ["cup"]),
            ("5d4bdd40cf0b3a0f3f339f81", "Nigeria", "ng", "af", ["Beds"], ["studio couch"]),
        ]
    },
    "income", "place",
)  # fmt: skip
def dollar_street(folder: Path) -> None:
    """MLCommons, Dollar Street: lists as Python prints them, countries and incomes."""
    rows = [
        ("5d4be5b7cf0b3a0f3f34e0ab", "Mexico", "mx", "am", "['Dish racks']", "rosales", 685.0,
         "['plate rack']", "[729]"),
        ("5d4be01bcf0b3a0f3f33e8c5", "Mexico", "mx", "am",
         "['Cups', 'Dish racks']", "lopez", 2134.5, "['cup', 'plate rack']", "[968, 729]"),
        ("5d4bdeb7cf0b3a0f3f33bce1", "Nigeria", "ng", "af", "['Cups']", "bello", 98.0,
         "['cup']", "[968]"),
        ("5d4bdd40cf0b3a0f3f339f81", "Nigeria", "ng", "af", "['Beds']", "bello", 98.0,
         "['studio couch']", "[831]"),
    ]  # fmt: skip
    put_csv(
        folder / "dollar_street/images_v2_imagenet_test.csv",
        "id,country.name,country.id,region.id,type,imageRelPath,topics,place,income,"
        "imagenet_synonyms,imagenet_sysnet_id",
        [
            (key, country, code, region, "image", f"assets/{key}/{key}.jpg", *rest)
            for key, country, code, region, *rest in rows
        ],
    )


@form(
    "ImageNet-X",
    "imagenet_x_val_multi_factor.jsonl --names class:762=restaurant,292=tiger"
    " --field one_word=ignore",
    {
        "ILSVRC2012_val_00004487.JPEG": seen("larger", "metaclass: structure", cls="restaurant"),
        "ILSVRC2012_val_00003963.JPEG": seen("color", "background", "metaclass: other",
                                             cls="tiger"),
        "ILSVRC2012_val_00041992.JPEG": seen("background", "metaclass: structure",
                                             cls="restaurant"),
        "ILSVRC2012_val_00037471.JPEG": seen("metaclass: other", cls="tiger"),
    },
    "justification",
)  # fmt: skip
def imagenet_x(folder: Path) -> None:
    """facebookresearch/imagenetx: a JSON object a line, factors of 0 and 1.

    What four sentences are is left open; of 50,000 each has one of its own.
    """
    put_lines(
        folder / "imagenet_x_val_multi_factor.jsonl",
        [
            {"file_name": f"ILSVRC2012_val_{number:08}.JPEG", "class": code, "background": behind,
             "color": color, "larger": larger, "justification": why, "one_word": word,
             "metaclass": group}
            for number, code, behind, color, larger, why, word, group in [
                (4487, 762, 0, 0, 1, "close up of a pan fried sea bass.", "sea bass", "structure"),
                (3963, 292, 1, 1, 0, "sepia image of a tiger in the snow", "altered", "other"),
                (41992, 762, 1, 0, 0, "the room is empty and rather dark", "room", "structure"),
                (37471, 292, 0, 0, 0, "the animal looks into the camera", "pose", "other"),
            ]
        ],
    )  # fmt: skip


_PLACES = {"airfield": 0, "alley": 8, "bakery/shop": 30}


@form(
    "Places365",
    "places365_train_standard.txt --names label:0=airfield,8=alley,30=bakery/shop",
    {f"/{name[0]}/{name}/{at:08}.jpg": seen(cls=name)
     for name in _PLACES for at in (1, 2)},
)  # fmt: skip
def places365(folder: Path) -> None:
    """CSAILVision/places365: a path and a code, and the names of the codes in another list."""
    put(
        folder / "places365_train_standard.txt",
        "".join(
            f"/{name[0]}/{name}/{at:08}.jpg {code}\n"
            for name, code in _PLACES.items()
            for at in (1, 2)
        ),
    )
    put(
        folder / "categories_places365.txt",
        "".join(f"/{name[0]}/{name} {code}\n" for name, code in _PLACES.items()),
    )


@form(
    "A table with columns of metadata",
    "drives.csv",
    {
        f"{number:03}.jpg": seen(f"weather: {weather}", f"scene: {scene}", f"camera: {camera}")
        for number, (weather, scene, camera) in enumerate(
            [("rainy", "city", "A"), ("rainy", "highway", "B"), ("clear", "city", "A"),
             ("clear", "city", "B"), ("foggy", "highway", "A"), ("clear", "highway", "B")]
        )
    },
)  # fmt: skip
def metadata_columns(folder: Path) -> None:
    """A spreadsheet saved as CSV, without a class."""
    put_csv(
        folder / "drives.csv",
        "image,weather,scene,camera",
        [
            (f"{number:03}.jpg", *row.split())
            for number, row in enumerate(
                ["rainy city A", "rainy highway B", "clear city A", "clear city B",
                 "foggy highway A", "clear highway B"]
            )
        ],
    )  # fmt: skip


@form(
    "A table with a row for each image and concept",
    "tags.csv",
    {
        "1.jpg": seen("sofa", "lamp", cls="cat"),
        "2.jpg": seen("sofa", cls="cat"),
        "3.jpg": seen("lamp", "grass", cls="dog"),
        "4.jpg": seen("grass", cls="dog"),
    },
)
def long_table(folder: Path) -> None:
    """pandas, DataFrame.explode or melt, saved as CSV."""
    rows = ["1 cat sofa", "1 cat lamp", "2 cat sofa", "3 dog lamp", "3 dog grass", "4 dog grass"]
    put_csv(
        folder / "tags.csv",
        "image,label,concept",
        [(f"{number}.jpg", *rest) for number, *rest in map(str.split, rows)],
    )


@form(
    "RetinaNet CSV",
    "annotations.csv",
    {
        "imgs/img_001.jpg": seen(cow=[(837, 346, 144, 110), (12, 20, 30, 40)]),
        "imgs/img_002.jpg": seen(cat=(215, 312, 64, 79), cow=(22, 5, 67, 79)),
        "imgs/img_003.jpg": seen(),
    },
)
def retinanet_csv(folder: Path) -> None:
    """fizyr/keras-retinanet, CSV datasets: path,x1,y1,x2,y2,class; an image of nothing is empty."""
    put(
        folder / "annotations.csv",
        "imgs/img_001.jpg,837,346,981,456,cow\nimgs/img_001.jpg,12,20,42,60,cow\n"
        "imgs/img_002.jpg,215,312,279,391,cat\nimgs/img_002.jpg,22,5,89,84,cow\n"
        "imgs/img_003.jpg,,,,,\n",
    )


@form(
    "Roboflow, multi-label classification CSV",
    "export",
    {
        "a_jpg.rf.1.jpg": seen("cat", split="train"),
        "b_jpg.rf.2.jpg": seen("cat", "dog", split="train"),
        "c_jpg.rf.3.jpg": seen("dog", split="val"),
        "d_jpg.rf.4.jpg": seen(split="val"),
    },
)
def roboflow_multilabel(folder: Path) -> None:
    """Roboflow, Formats, Multi-Label Classification CSV: _classes.csv with spaces after commas."""
    for split, rows in (
        ("train", ["a_jpg.rf.1.jpg, 1, 0", "b_jpg.rf.2.jpg, 1, 1"]),
        ("valid", ["c_jpg.rf.3.jpg, 0, 1", "d_jpg.rf.4.jpg, 0, 0"]),
    ):
        root = folder / "export" / split
        put_pictures(root, [row.split(",")[0] for row in rows])
        put(root / "_classes.csv", "\n".join(["filename, cat, dog", *rows, ""]))


@form(
    "A JSON list of objects over several lines",
    "images.json --class-column scene",
    {
        "1.jpg": seen("sofa", "lamp", "weather: clear", cls="indoor"),
        "2.jpg": seen("sofa", "weather: rainy", cls="indoor"),
        "3.jpg": seen("tree", "weather: rainy", cls="outdoor"),
        "4.jpg": seen("weather: clear", cls="outdoor"),
    },
)
def json_list(folder: Path) -> None:
    """Python, json.dump of a list with an indent."""
    rows = [
        ("1.jpg", "indoor", "clear", ["sofa", "lamp"]),
        ("2.jpg", "indoor", "rainy", ["sofa"]),
        ("3.jpg", "outdoor", "rainy", ["tree"]),
        ("4.jpg", "outdoor", "clear", []),
    ]
    put_json(
        folder / "images.json",
        [
            {"file_name": name, "scene": scene, "weather": weather, "tags": tags}
            for name, scene, weather, tags in rows
        ],
        indent=2,
    )


@form(
    "TensorFlow object detection CSV",
    "_annotations.csv",
    {
        "a_jpg.rf.1.jpg": seen(car=[CAR, BUS]),
        "b_jpg.rf.2.jpg": seen(car=CAR, person=BUS),
        "c_jpg.rf.3.jpg": seen(person=CAR),
    },
)
def tensorflow_csv(folder: Path) -> None:
    """Roboflow, Formats, Tensorflow Object Detection CSV: a row an object, boxes by corners."""
    rows = [("a_jpg.rf.1.jpg", "car", CAR), ("a_jpg.rf.1.jpg", "car", BUS),
            ("b_jpg.rf.2.jpg", "car", CAR), ("b_jpg.rf.2.jpg", "person", BUS),
            ("c_jpg.rf.3.jpg", "person", CAR)]  # fmt: skip
    put_csv(
        folder / "_annotations.csv",
        "filename,width,height,class,xmin,ymin,xmax,ymax",
        [(name, 64, 48, label, x, y, x + w, y + h) for name, label, (x, y, w, h) in rows],
    )


@form(
    "Flickr8k captions",
    "captions.txt --vocabulary words.txt",
    {
        "1000268201_693b08cb0e.jpg": seen("dog", "child"),
        "1001773457_577c3a7d70.jpg": seen("dog"),
        "1002674143_1b742ab4b8.jpg": seen("child"),
    },
)
def flickr8k(folder: Path) -> None:
    """Kaggle, Flickr 8k: a row a caption, several of an image."""
    put(
        folder / "captions.txt",
        "image,caption\n1000268201_693b08cb0e.jpg,A child in a pink dress .\n"
        '1000268201_693b08cb0e.jpg,"A child, and a dog behind it ."\n'
        "1001773457_577c3a7d70.jpg,A black dog and a spotted dog are fighting .\n"
        "1001773457_577c3a7d70.jpg,Two dogs on the pavement .\n"
        "1002674143_1b742ab4b8.jpg,A small child is covered in paint .\n",
    )
    put(folder / "words.txt", "dog\nchild\n")


_SIGNS = {"0": "speed limit 20", "14": "stop"}


@form(
    "GTSRB (German Traffic Sign Recognition Benchmark)",
    "Train.csv --class-column ClassId --names \"ClassId:0=speed limit 20,14=stop\"",
    {
        f"Train/{code}/{code:0>5}_00000_0000{at}.png": seen(cls=name)
        for code, name in _SIGNS.items()
        for at in (0, 1)
    },
    "Width", "Height", "Roi.X1", "Roi.Y1", "Roi.X2", "Roi.Y2",
)  # fmt: skip
def gtsrb(folder: Path) -> None:
    """Kaggle, GTSRB: sizes, the region of the sign, a code and a path."""
    put_csv(
        folder / "Train.csv",
        "Width,Height,Roi.X1,Roi.Y1,Roi.X2,Roi.Y2,ClassId,Path",
        [
            (27 + at, 26, 5, 5, 22 + at, 20, code, f"Train/{code}/{code:0>5}_00000_0000{at}.png")
            for code in _SIGNS
            for at in (0, 1)
        ],
    )


@form(
    "DomainNet",
    'DomainNet --path-pattern "{domain}/{class}/*"',
    {
        f"{domain}/{cls}/{domain}_{at:03}_000001.jpg": seen(f"domain: {domain}", cls=cls,
                                                            split=split)
        for domain in ("clipart", "real")
        for at, (cls, split) in enumerate([("aircraft_carrier", "train"), ("zebra", "train"),
                                           ("zebra", "test")])
    },
    "label",
)  # fmt: skip
def domainnet(folder: Path) -> None:
    """ai.bu.edu/M3SDA, DomainNet: lists of a domain and a split, a path and a code a line."""
    for domain in ("clipart", "real"):
        lines = [f"{domain}/{cls}/{domain}_{at:03}_000001.jpg {code}\n"
                 for at, (cls, code) in enumerate([("aircraft_carrier", 0), ("zebra", 344),
                                                   ("zebra", 344)])]  # fmt: skip
        put(folder / f"DomainNet/{domain}_train.txt", "".join(lines[:2]))
        put(folder / f"DomainNet/{domain}_test.txt", lines[2])

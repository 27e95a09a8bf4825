"""Datasets of competitions and challenges, and the layouts that their tools write."""

from pathlib import Path

from tests.ingest.published.driving import _yolo
from tests.ingest.published.form import form, put, put_csv, put_json, put_pictures, seen

CAR, BUS = (8, 12, 16, 24), (30, 10, 20, 30)


@form(
    "YOLO with names and a path alone",
    "bikes",
    {"images/train/a.jpg": seen(bike=CAR, split="train"), "images/val/b.jpg": seen(split="val")},
)
def yolo_path(folder: Path) -> None:
    """Ultralytics, data.yaml of a dataset whose splits are folders."""
    put(folder / "bikes/data.yaml", "path: bikes\nnc: 2\nnames: ['car', 'bike']\n")
    put_pictures(folder / "bikes/images", ["train/a.jpg", "val/b.jpg"])
    put(folder / "bikes/labels/train/a.txt", _yolo((1, CAR)))


@form(
    "YOLO (Darknet), as of CVAT",
    "export",
    {"obj_train_data/a.jpg": seen(bike=CAR, split="train"),
     "obj_train_data/b.jpg": seen(car=BUS, bike=CAR, split="val")},
)  # fmt: skip
def darknet(folder: Path) -> None:
    """AlexeyAB/darknet and CVAT's YOLO 1.1: obj.data, obj.names, lists, labels beside images."""
    root = folder / "export"
    put(root / "obj.data", "classes = 2\ntrain = data/train.txt\nvalid = data/valid.txt\n"
        "names = data/obj.names\nbackup = backup/\n")  # fmt: skip
    put(root / "obj.names", "car\nbike\n")
    put(root / "train.txt", "data/obj_train_data/a.jpg\n")
    put(root / "valid.txt", "data/obj_train_data/b.jpg\n")
    put_pictures(root / "obj_train_data", ["a.jpg", "b.jpg"])
    put(root / "obj_train_data/a.txt", _yolo((1, CAR)))
    put(root / "obj_train_data/b.txt", _yolo((0, BUS), (1, CAR)))


@form(
    "YOLO of LabelImg and Label Studio",
    "labels",
    {"images/a.jpg": seen(bike=CAR), "images/b.jpg": seen(car=BUS)},
)
def labelimg_yolo(folder: Path) -> None:
    """Label Studio, YOLO export: classes.txt, images and labels; LabelImg writes classes.txt."""
    put(folder / "labels/classes.txt", "car\nbike\n")
    put(folder / "labels/notes.json", '{"categories": [{"id": 0, "name": "car"}], "info": {}}')
    put_pictures(folder / "labels/images", ["a.jpg", "b.jpg"])
    put(folder / "labels/labels/a.txt", _yolo((1, CAR)))
    put(folder / "labels/labels/b.txt", _yolo((0, BUS)))


@form(
    "Kaggle, Cassava Leaf Disease",
    "train.csv --class-column label --names label=label_num_to_disease_map.json",
    {"1000015157.jpg": seen(cls="Blight (CBB)"), "1000201771.jpg": seen(cls="Healthy"),
     "100042118.jpg": seen(cls="Blight (CBB)")},
)  # fmt: skip
def cassava(folder: Path) -> None:
    """Kaggle, Cassava Leaf Disease Classification: codes, and their names in JSON."""
    put_json(folder / "label_num_to_disease_map.json", {"0": "Blight (CBB)", "4": "Healthy"})
    rows = [("1000015157.jpg", 0), ("1000201771.jpg", 4), ("100042118.jpg", 0)]
    put_csv(folder / "train.csv", "image_id,label", rows)


_SYNSETS = {"n01440764": "tench, Tinca tinca", "n01443537": "goldfish, Carassius auratus"}


@form(
    "ImageNet, validation list",
    "LOC_val_solution.csv",
    {
        "ILSVRC2012_val_00048981": seen("n03995372"),
        "ILSVRC2012_val_00037956": seen("n03481172", "n02107142"),
    },
)
def imagenet_val(folder: Path) -> None:
    """Kaggle, ImageNet Object Localization: synset and corners of each object in one cell."""
    put_csv(folder / "LOC_val_solution.csv", "ImageId,PredictionString", [
        ("ILSVRC2012_val_00048981", "n03995372 85 1 499 272 "),
        ("ILSVRC2012_val_00037956", "n03481172 131 0 499 254 n02107142 10 20 60 90 "),
    ])  # fmt: skip


@form(
    "Stanford Cars",
    "cars_train.csv --class-column class --names class=class_names.txt",
    {"00001.jpg": seen(cls="Audi TTS Coupe 2012"), "00002.jpg": seen(cls="Acura TL Sedan 2012"),
     "00003.jpg": seen(cls="Audi TTS Coupe 2012")},
)  # fmt: skip
def stanford_cars(folder: Path) -> None:
    """Kaggle copies of Stanford Cars: corners of the car, a code, a file name."""
    put_csv(folder / "cars_train.csv", "bbox_x1,bbox_y1,bbox_x2,bbox_y2,class,fname",
            [(39, 116, 569, 375, 2, "00001.jpg"), (36, 116, 868, 587, 1, "00002.jpg"),
             (85, 109, 601, 381, 2, "00003.jpg")])  # fmt: skip
    put(folder / "class_names.txt", "1 Acura TL Sedan 2012\n2 Audi TTS Coupe 2012\n")


@form(
    "DeepFashion, categories and attributes",
    "Anno/list_attr_img.txt --names attribute_labels=Anno/list_attr_cloth.txt"
    " --join Anno/list_category_img.txt --class-column category_label"
    " --names category_label=Anno/list_category_cloth.txt"
    " --join Eval/list_eval_partition.txt --split-column evaluation_status",
    {
        f"img/{folder}/{name}.jpg": seen(
            *(f"attribute_labels: {it}" for it in shown), cls=kind, split=split
        )
        for folder, name, shown, kind, split in [
            ("Sheer_Dress", "img_00000001", ["a-line", "zip up"], "Dress", "train"),
            ("Sheer_Dress", "img_00000002", ["zip up"], "Dress", "val"),
            ("V-Neck_Tee", "img_00000001", ["abstract"], "Tee", "test"),
            ("V-Neck_Tee", "img_00000002", [], "Tee", "train"),
        ]
    },
)
def deepfashion(folder: Path) -> None:
    """DeepFashion, Category and Attribute: a count, a header line, then -1, 0 or 1 an attribute."""
    put(folder / "Anno/list_attr_img.txt", "4\nimage_name  attribute_labels\n"
        "img/Sheer_Dress/img_00000001.jpg  1 -1  1\nimg/Sheer_Dress/img_00000002.jpg -1 -1  1\n"
        "img/V-Neck_Tee/img_00000001.jpg -1  1 -1\n"
        "img/V-Neck_Tee/img_00000002.jpg  0 -1 -1\n")  # fmt: skip
    put(folder / "Anno/list_attr_cloth.txt", "3\nattribute_name  attribute_type\n"
        "a-line         3\nabstract       1\nzip up         4\n")  # fmt: skip
    put(folder / "Anno/list_category_img.txt", "4\nimage_name  category_label\n"
        "img/Sheer_Dress/img_00000001.jpg  2\nimg/Sheer_Dress/img_00000002.jpg  2\n"
        "img/V-Neck_Tee/img_00000001.jpg   1\nimg/V-Neck_Tee/img_00000002.jpg   1\n")  # fmt: skip
    put(folder / "Anno/list_category_cloth.txt", "2\ncategory_name  category_type\n"
        "Tee    1\nDress  3\n")  # fmt: skip
    put(folder / "Eval/list_eval_partition.txt", "4\nimage_name  evaluation_status\n"
        "img/Sheer_Dress/img_00000001.jpg  train\nimg/Sheer_Dress/img_00000002.jpg  val\n"
        "img/V-Neck_Tee/img_00000001.jpg   test\n"
        "img/V-Neck_Tee/img_00000002.jpg   train\n")  # fmt: skip


@form(
    "Market-1501",
    'Market-1501/bounding_box_train --path-pattern "{cluster}_c{camera}s*_*.jpg"'
    " --field camera=values",
    {"0002_c1s1_000451_03.jpg": seen("camera: 1"), "0002_c2s1_000301_01.jpg": seen("camera: 2"),
     "0007_c3s3_077419_03.jpg": seen("camera: 3")},
)  # fmt: skip
def market1501(folder: Path) -> None:
    """Market-1501, readme: person, camera, sequence and frame in the name of each file."""
    names = ["0002_c1s1_000451_03.jpg", "0002_c2s1_000301_01.jpg", "0007_c3s3_077419_03.jpg"]
    put_pictures(folder / "Market-1501/bounding_box_train", names)


@form(
    "Oxford-IIIT Pets",
    'images --path-pattern "{class}_#.jpg"',
    {"Abyssinian_100.jpg": seen(cls="Abyssinian"), "Abyssinian_101.jpg": seen(cls="Abyssinian"),
     "american_bulldog_10.jpg": seen(cls="american_bulldog")},
)  # fmt: skip
def oxford_pets(folder: Path) -> None:
    """Oxford-IIIT Pets, README: image, class id, species, breed id; comments in list.txt."""
    names = ["Abyssinian_100", "Abyssinian_101", "american_bulldog_10"]
    put_pictures(folder / "images", [f"{name}.jpg" for name in names])
    head = "#Image CLASS-ID SPECIES BREED ID\n#ID: 1:37 Class ids\n#SPECIES: 1:Cat 2:Dog\n"
    lines = "".join(f"{name} 1 1 1\n" for name in names)
    put(folder / "annotations/list.txt", head + lines)


_GEODE = [("bag", "Africa", "Nigeria", 1), ("chair", "Africa", "Nigeria", 2),
          ("bag", "Asia", "Japan", 3), ("chair", "Asia", "Japan", 4)]  # fmt: skip


@form(
    "GeoDE",
    "geode/index.csv --class-column object",
    {
        f"images/{region}/{country}/{obj}/{at}.jpg":
            seen(f"region: {region}", f"country: {country}", cls=obj)
        for obj, region, country, at in _GEODE
    },
)  # fmt: skip
def geode(folder: Path) -> None:
    """GeoDE, index.csv: object, region, country and path of each image."""
    put_csv(folder / "geode/index.csv", "object,region,country,file_path", [
        (obj, region, country, f"images/{region}/{country}/{obj}/{at}.jpg")
        for obj, region, country, at in _GEODE
    ])  # fmt: skip


@form(
    "Global Wheat",
    "train.csv",
    {"b6ab77fd7": seen("source: usask_1"), "b53afdf5c": seen("source: arvalis_1")},
)
def global_wheat(folder: Path) -> None:
    """Kaggle, Global Wheat Detection: a row a box, which is a list in text."""
    rows = [("b6ab77fd7", 1024, 1024, "[834.0, 222.0, 56.0, 36.0]", "usask_1"),
            ("b6ab77fd7", 1024, 1024, "[226.0, 548.0, 130.0, 58.0]", "usask_1"),
            ("b53afdf5c", 1024, 1024, "[988.0, 781.0, 36.0, 96.0]", "arvalis_1")]  # fmt: skip
    put_csv(folder / "train.csv", "image_id,width,height,bbox,source", rows)


@form(
    "VinBigData chest X-rays",
    "train.csv",
    {
        "50a418190bc3fb1ef1633bf9678929b3": seen("No finding"),
        "9a5094b2563a1ef3ff50dc5c7ff71345": seen(Cardiomegaly=(691, 1375, 962, 456),
                                                 Aortic_enlargement=(1264, 743, 347, 297)),
    },
    "rad_id", "class_id",
)  # fmt: skip
def vinbigdata(folder: Path) -> None:
    """Kaggle, VinBigData: a row a finding, its reader and corners, empty for no finding."""
    put_csv(
        folder / "train.csv",
        "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max",
        [("50a418190bc3fb1ef1633bf9678929b3", "No finding", 14, "R11", "", "", "", ""),
         ("9a5094b2563a1ef3ff50dc5c7ff71345", "Cardiomegaly", 3, "R10", 691, 1375, 1653, 1831),
         ("9a5094b2563a1ef3ff50dc5c7ff71345", "Aortic enlargement", 0, "R10", 1264, 743, 1611,
          1040)],
    )  # fmt: skip


@form(
    "Kaggle, Plant Pathology 2021",
    "train.csv --concepts-column labels",
    {"800113bb65efe69e.jpg": seen("healthy"), "8002cb321f8bfcdf.jpg": seen("scab", "complex"),
     "80070f7fb5e2ccaa.jpg": seen("scab")},
)  # fmt: skip
def plant_pathology(folder: Path) -> None:
    """Kaggle, Plant Pathology 2021: several labels in a cell, separated by spaces."""
    put_csv(folder / "train.csv", "image,labels", [
        ("800113bb65efe69e.jpg", "healthy"), ("8002cb321f8bfcdf.jpg", "scab complex"),
        ("80070f7fb5e2ccaa.jpg", "scab"),
    ])  # fmt: skip


@form(
    "iNaturalist 2021",
    'train_mini.json --class-category "Owl butterfly" --class-category Robin',
    {"train_mini/00001_a/1.jpg": seen(cls="Owl butterfly"),
     "train_mini/00002_b/2.jpg": seen(cls="Robin")},
    "latitude", "longitude", "location_uncertainty", "rights_holder",
)  # fmt: skip
def inaturalist(folder: Path) -> None:
    """visipedia/inat_comp, 2021: COCO with a category an image, and no boxes."""
    put_json(folder / "train_mini.json", {
        "info": {}, "licenses": [],
        "images": [
            {"id": 1, "width": 64, "height": 48, "file_name": "train_mini/00001_a/1.jpg",
             "license": 0, "rights_holder": "x", "date": "2015-07-05 00:00:00+00:00",
             "latitude": 43.8, "longitude": -71.7, "location_uncertainty": 77},
            {"id": 2, "width": 64, "height": 48, "file_name": "train_mini/00002_b/2.jpg",
             "license": 0, "rights_holder": "y", "date": "2015-07-06 00:00:00+00:00",
             "latitude": 43.9, "longitude": -71.8, "location_uncertainty": None},
        ],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 0},
                        {"id": 2, "image_id": 2, "category_id": 1}],
        "categories": [
            {"id": 0, "name": "Owl butterfly", "common_name": "x", "supercategory": "Insects",
             "kingdom": "Animalia"},
            {"id": 1, "name": "Robin", "supercategory": "Birds", "kingdom": "Animalia"},
        ],
    })  # fmt: skip


@form(
    "VIA 2 project",
    "via_project.json",
    {"a.jpg": seen(**{"type: car": CAR})},
)
def via_project(folder: Path) -> None:
    """robots.ox.ac.uk, VIA 2, saved project: images beside the tool's own settings."""
    put_json(folder / "via_project.json", {
        "_via_settings": {"core": {"default_filepath": ""}, "project": {"name": "x"}},
        "_via_img_metadata": {"a.jpg2000": {"filename": "a.jpg", "size": 2000, "regions": [
            {"shape_attributes": dict(zip(("name", "x", "y", "width", "height"), ("rect", *CAR),
                                          strict=True)),
             "region_attributes": {"type": "car"}}], "file_attributes": {}}},
        "_via_attributes": {"region": {}, "file": {}},
        "_via_data_format_version": "2.0.10", "_via_image_id_list": ["a.jpg2000"],
    })  # fmt: skip


@form(
    "Kaggle, Planet: Understanding the Amazon",
    "train_v2.csv",
    {"train_0": seen("haze", "primary"), "train_1": seen("agriculture", "clear", "primary"),
     "train_2": seen("clear", "primary"), "train_3": seen("cloudy")},
)  # fmt: skip
def planet(folder: Path) -> None:
    """Kaggle, Planet: tags separated by spaces."""
    put(folder / "train_v2.csv", "image_name,tags\ntrain_0,haze primary\n"
        "train_1,agriculture clear primary\ntrain_2,clear primary\ntrain_3,cloudy\n")  # fmt: skip


@form(
    "ISIC 2020 (SIIM melanoma)",
    "train.csv --class-column benign_malignant --cluster-column patient_id --field target=ignore",
    {
        name: seen(f"sex: {sex}", f"anatom_site_general_challenge: {site}", cls=cls)
        for name, sex, site, cls in [("ISIC_2637011", "male", "head/neck", "benign"),
                                     ("ISIC_0015719", "female", "upper extremity", "benign"),
                                     ("ISIC_0052212", "female", "head/neck", "malignant"),
                                     ("ISIC_0068279", "female", "head/neck", "benign")]
    },
    "age_approx", "diagnosis",
)  # fmt: skip
def isic2020(folder: Path) -> None:
    """Kaggle, SIIM-ISIC Melanoma: patient, sex, age, site, diagnosis and target."""
    put(
        folder / "train.csv",
        "image_name,patient_id,sex,age_approx,anatom_site_general_challenge,diagnosis,"
        "benign_malignant,target\nISIC_2637011,IP_7279968,male,45.0,head/neck,unknown,benign,0\n"
        "ISIC_0015719,IP_3075186,female,45.0,upper extremity,unknown,benign,0\n"
        "ISIC_0052212,IP_2842074,female,50.0,head/neck,nevus,malignant,1\n"
        "ISIC_0068279,IP_6890425,female,45.0,head/neck,unknown,benign,0\n",
    )


@form(
    "RSNA pneumonia",
    "stage_2_train_labels.csv --id-column patientId --names Target:0=none,1=opacity",
    {
        "0004cfab": seen("none"),
        "00436515": seen(opacity=[(264, 152, 213, 379), (562, 152, 256, 453)]),
    },
)
def rsna_pneumonia(folder: Path) -> None:
    """Kaggle, RSNA Pneumonia Detection: a row a box, empty where there is no finding."""
    put(folder / "stage_2_train_labels.csv", "patientId,x,y,width,height,Target\n"
        "0004cfab,,,,,0\n00436515,264.0,152.0,213.0,379.0,1\n"
        "00436515,562.0,152.0,256.0,453.0,1\n")  # fmt: skip


@form(
    "VAW (Visual Attributes in the Wild)",
    "val.json",
    {
        "2373241": seen("object_name: floor", "object_name: dog", "positive_attributes: tiled",
                        "positive_attributes: gray", "positive_attributes: brown"),
        "2373555": seen("object_name: dog", "positive_attributes: gray"),
    },
    "negative_attributes",
)  # fmt: skip
def vaw(folder: Path) -> None:
    """adobe-research/vaw_dataset: an object a row, with attributes that it has, or lacks."""
    rows = [
        ("2373241", "floor", ["tiled", "gray"], ["wooden"]),
        ("2373241", "dog", ["brown"], []),
        ("2373555", "dog", ["gray"], ["brown"]),
    ]
    put_json(folder / "val.json", [
        {"image_id": image, "instance_id": f"{image}00{at}", "instance_bbox": [0.0, 182.5, 50, 148],
         "instance_polygon": None, "object_name": name, "positive_attributes": has,
         "negative_attributes": lacks}
        for at, (image, name, has, lacks) in enumerate(rows)])  # fmt: skip


@form(
    "Adience",
    "fold_0_data.txt --id-column original_image --each-row --class-column gender"
    " --cluster-column user_id --names gender:f=female,m=male",
    {
        "10399646885_67c7d20df9_o.jpg": seen("age: (25, 32)", cls="female"),
        "10424815813_e94629b1ec_o.jpg#1": seen("age: (25, 32)", cls="male"),
        "10424815813_e94629b1ec_o.jpg#2": seen("age: (4, 6)", cls="female"),
    },
    "x", "y", "dx", "dy", "tilt_ang", "fiducial_yaw_angle", "fiducial_score",
)  # fmt: skip
def adience(folder: Path) -> None:
    """Adience, fold_0_data.txt: a face a row, with its place in a photograph of a user."""
    header = ["user_id", "original_image", "face_id", "age", "gender", "x", "y", "dx", "dy",
              "tilt_ang", "fiducial_yaw_angle", "fiducial_score"]  # fmt: skip
    rows = [
        ("30601258@N03", "10399646885_67c7d20df9_o.jpg", 1, "(25, 32)", "f", 0, 414, 1086, 1383),
        ("30601258@N03", "10424815813_e94629b1ec_o.jpg", 2, "(25, 32)", "m", 301, 105, 640, 641),
        ("7285955@N06", "10424815813_e94629b1ec_o.jpg", 3, "(4, 6)", "f", 7, 105, 640, 700),
    ]
    lines = [header, *((*row, -115, 30, 17) for row in rows)]
    put(folder / "fold_0_data.txt", "".join("\t".join(map(str, it)) + "\n" for it in lines))


@form(
    "FGVC-Aircraft",
    "data/images --join data/images_family_train.txt",
    {
        "1025794.jpg": seen(cls="Boeing 707", split="train"),
        "0056978.jpg": seen(cls="A300", split="train"),
    },
)
def fgvc_aircraft(folder: Path) -> None:
    """FGVC-Aircraft, README: an image and its family a line, of one or more words."""
    put_pictures(folder / "data/images", ["1025794.jpg", "0056978.jpg"])
    put(folder / "data/images_family_train.txt", "1025794 Boeing 707\n0056978 A300\n")


@form(
    "PadChest",
    "PADCHEST.csv --cluster-column PatientID --field ImageDir=ignore",
    {
        "2.png": seen("pulmonary fibrosis", "chronic changes", "PatientSex_DICOM: F",
                      "Projection: PA", "Localizations: loc basal"),
        "3.png": seen("normal", "PatientSex_DICOM: M", "Projection: L"),
        "4.png": seen("normal", "chronic changes", "PatientSex_DICOM: M", "Projection: PA",
                      "Localizations: loc basal"),
    },
    "StudyDate_DICOM",
)  # fmt: skip
def padchest(folder: Path) -> None:
    """PadChest, CSV: an X-ray a row; findings and their places are lists as Python prints them."""
    basal = "['loc basal']"
    put_csv(
        folder / "PADCHEST.csv",
        ",ImageID,ImageDir,StudyDate_DICOM,StudyID,PatientID,PatientSex_DICOM,Projection,Labels,"
        "Localizations",
        [
            (0, "2.png", 0, "20140915", "s1", "p1", "F", "PA",
             "['pulmonary fibrosis', 'chronic changes']", basal),
            (1, "3.png", 0, "20120513", "s2", "p2", "M", "L", "['normal']", "[]"),
            (2, "4.png", 8, "20120514", "s3", "p2", "M", "PA", "['normal', 'chronic changes']",
             basal),
        ],
    )  # fmt: skip


@form(
    "Fashion Product Images",
    "styles.csv --class-column gender --field productDisplayName=ignore",
    {
        "15970": seen("masterCategory: Apparel", "subCategory: Topwear", "articleType: Shirts",
                      "baseColour: Blue", "season: Fall", cls="Men"),
        "39386": seen("masterCategory: Apparel", "subCategory: Bottomwear", "articleType: Jeans",
                      "baseColour: Blue", "season: Summer", cls="Men"),
        "59263": seen("masterCategory: Accessories", "subCategory: Watches",
                      "articleType: Watches", "season: Summer", cls="Women"),
    },
    "year", "usage",
)  # fmt: skip
def fashion_products(folder: Path) -> None:
    """Kaggle, Fashion Product Images: styles.csv, whose ids are the pictures' names."""
    put_csv(
        folder / "styles.csv",
        "id,gender,masterCategory,subCategory,articleType,baseColour,season,year,usage,"
        "productDisplayName",
        [
            (15970, "Men", "Apparel", "Topwear", "Shirts", "Blue", "Fall", 2011, "Casual",
             "Turtle Check Men Blue Shirt"),
            (39386, "Men", "Apparel", "Bottomwear", "Jeans", "Blue", "Summer", 2012, "Casual",
             "Peter England Men Party Blue Jeans"),
            (59263, "Women", "Accessories", "Watches", "Watches", "NA", "Summer", 2012, "Casual",
             "Titan Women Watch"),
        ],
    )  # fmt: skip

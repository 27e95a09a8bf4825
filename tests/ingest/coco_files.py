"""A small COCO instances file and a captions file, as Python objects."""

from cobalance.ingest.options import ReadOptions

INSTANCES = {
    "info": {},
    "images": [
        {"id": 10, "file_name": "a.jpg", "width": 640, "height": 480, "license": 1},
        {"id": 20, "file_name": "b.jpg", "width": 320, "height": 240},
        {"id": 30, "file_name": "c.jpg"},
        {"id": 40, "file_name": "d.jpg"},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 10,
            "category_id": 3,
            "bbox": [1, 2.5, 3, 4],
            "area": 9.5,
            "iscrowd": 1,
            "segmentation": {"counts": [1, 2], "size": [3, 4]},
        },
        {"id": 2, "image_id": 10, "category_id": 1, "segmentation": [[1, 2, 3]]},
        {"id": 3, "image_id": 20, "category_id": 2, "score": 0.5},
        {"id": 4, "image_id": 30, "category_id": 1},
        {"id": 5, "image_id": 30, "category_id": 2},
        {"id": 6, "image_id": 20, "category_id": 3, "bbox": [0, 0, 0, 7]},
    ],
    "categories": [
        {"id": 1, "name": "man", "supercategory": "person"},
        {"id": 2, "name": "woman"},
        {"id": 3, "name": "hot dog"},
    ],
}


CAPTIONS = {
    "images": INSTANCES["images"],
    "annotations": [
        {"id": 1, "image_id": 10, "caption": "A man eats hot-dogs."},
        {"id": 2, "image_id": 10, "caption": "Boys with a hot dog and a bench"},
        {"id": 3, "image_id": 20, "caption": "A woman on a bench"},
        {"id": 4, "image_id": 30, "caption": "A man and a woman"},
    ],
}


GENDER = ReadOptions(class_category={"man": "m", "woman": "w"})

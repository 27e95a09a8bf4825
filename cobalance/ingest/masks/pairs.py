"""Which pictures of a folder or an archive are drawn of others: masks, depth, further bands."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, filterfalse, islice, product
from operator import attrgetter
from weakref import WeakKeyDictionary

from cobalance.base import CobalanceError, group_pairs, inflect, shorten_list
from cobalance.ingest.masks.drawn_words import Words, file_words, folder_words
from cobalance.ingest.masks.same_names import (
    MOST_LOOKS_A_FOLDER,
    Looks,
    find_drawn_beside,
    find_drawn_folders,
    look_at,
    stem_of,
    without_band,
)
from cobalance.ingest.names import split_named, without
from cobalance.ingest.trees import FileTree
from cobalance.vision import IMAGE_ENDINGS, MAX_BYTES, looks_drawn

# Names without any of these are read no further, of very many pictures.
_HINT = re.compile(
    r"mask|label|seg|gt|ann|depth|edge|inst|part|manual|truth|trimap|_[lp]\.|alpha|disp|matte|pano"
    r"|pars|salien|pixels|target|trainids|semantic",
    re.IGNORECASE,
)
_SHARE = 0.5  # of a folder's pictures that have an image
_MOST_LOOKS = 60  # pictures that are opened in all
_SHOWN = 3


@dataclass(frozen=True)
class Masks:
    """The images, and the pictures that are drawn of them.

    `of_image` has the masks of images whose values may be kinds of things, also of images that are
    not here, `drawn` all pictures that are no images, and `folders` where they are, in words.
    """

    images: list[str]
    of_image: dict[str, list[str]] = field(default_factory=dict)
    drawn: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()

    def note(self, path: object, *, are_read: bool = False) -> str:
        """Name the places of masks, and, unless `are_read`, say that they were not read."""
        places = shorten_list(list(self.folders), _SHOWN)
        n = inflect(len(self.drawn), "pictures")
        left = "" if are_read else "; these are not read"
        return f"{path}: {n} in {places} are masks or the like, drawn of others, no images{left}"


_MASKS: "WeakKeyDictionary[FileTree, Masks]" = WeakKeyDictionary()


def masks_in(tree: FileTree) -> Masks:
    """The images and masks of a folder or an archive; few pictures are opened.

    A tree is asked several times, by detection and by its reader, so that its answer is kept.
    """
    masks = _MASKS.get(tree)
    if masks is None:
        paths = tree.below("", *IMAGE_ENDINGS)
        masks = _MASKS[tree] = find_masks(paths, _Looker(tree))
    return masks


class _Looker:
    """Opens pictures of a tree, up to a number in all."""

    def __init__(self, tree: FileTree) -> None:
        self._tree, self._remaining = tree, _MOST_LOOKS

    def __call__(self, path: str) -> bool:
        if self._remaining == 0:
            return False
        self._remaining -= 1
        try:
            return looks_drawn(self._tree.read(path, MAX_BYTES))
        # A link out of the folder is not followed, and without Pillow nothing is opened.
        except CobalanceError:
            return False


def find_masks(paths: Sequence[str], looks: Looks) -> Masks:
    """Tell images from masks and the like: by names, else by a look at few of them.

    Examples
    --------
    >>> masks = find_masks(["images/a.jpg", "masks/a.png", "b/c.jpg"], lambda path: False)
    >>> masks.images, masks.of_image
    (['b/c.jpg', 'images/a.jpg'], {'images/a.jpg': ['masks/a.png']})
    """
    search = _Search(paths, looks)
    search.by_words()

    rest = search.images()
    for path, image in chain(find_drawn_beside(rest, looks), find_drawn_folders(rest, looks)):
        search.add(path, image)
    return search.masks()


@dataclass(frozen=True)
class _Folder:
    """A folder, with the words in its path.

    `place` has what remains of the names without words for masks and images.
    """

    path: str
    words: tuple[Words, ...]
    place: tuple[str, ...]
    is_drawn: bool
    is_weak: bool
    is_image: bool

    @classmethod
    def of(cls, path: str) -> "_Folder":
        words = tuple(map(folder_words, filter(None, path.split("/"))))
        drawn = list(filter(attrgetter("is_drawn"), words))
        place = filter(None, map(attrgetter("rest"), words))
        return cls(
            path,
            words,
            place=tuple(place),
            is_drawn=bool(drawn),
            is_weak=all(map(attrgetter("is_weak"), drawn)),
            is_image=not drawn and any(map(attrgetter("is_image"), words)),
        )

    @cached_property
    def areas(self) -> list[tuple[object, ...]]:
        """Areas around the folder, from itself on, for the nearest image."""
        kinds = filterfalse(split_named, self.place)
        splits = filter(split_named, self.place)
        # MVTec has the masks of test/dent in ground_truth/dent.
        return [("", self.path), ("place", *self.place), ("kinds", *kinds), ("splits", *splits), ()]


@dataclass(frozen=True)
class _Match:
    """The image that a picture may be drawn of, None where several may be.

    `is_named` says that the image's names are those of images beside masks.
    """

    path: str
    image: str | None
    is_named: bool


class _Search:
    """The pictures that were taken for drawn ones so far."""

    def __init__(self, paths: Sequence[str], looks: Looks) -> None:
        self._paths, self._looks = paths, looks
        names = {path.rpartition("/")[0] for path in paths}
        self._folders = dict(zip(names, map(_Folder.of, names), strict=True))
        self._places_of_images = set[tuple[str, ...]]()
        for folder in self._folders.values():
            if folder.is_image:
                self._places_of_images.add(folder.place)
        self._drawn = set[str]()
        self._of_image = defaultdict[str, list[str]](list)

    def add(self, path: str, image: str | None) -> None:
        """Take a picture for a drawn one, of an image if that is known."""
        self._drawn.add(path)
        if image is not None:
            self._of_image[image].append(path)

    def images(self) -> list[str]:
        """The pictures that are not drawn."""
        return without(self._paths, self._drawn)

    def masks(self) -> Masks:
        """All that was found."""
        images = sorted(self.images())
        of_image = dict[str, list[str]]()
        for image in images if self._drawn else ():
            best = self._best(self._of_image.get(image, ()))
            if best:
                of_image[image] = best
        if not images:
            of_image = self._of_no_image()
        return Masks(images, of_image, frozenset(self._drawn), tuple(_places(self._drawn)))

    def _of_no_image(self) -> dict[str, list[str]]:
        """Masks of images that are not here, which are called by the masks' paths without endings.

        CVAT exports masks without the images.
        """
        by_name = group_pairs(
            ((self._folder(path).place, file_words(path).rest), path) for path in self._drawn
        )
        of_image = dict[str, list[str]]()
        for group in by_name.values():
            best = self._best(group)
            if best:
                of_image[posixpath.splitext(best[0])[0]] = best
        return dict(sorted(of_image.items()))

    def by_words(self) -> None:
        """Take pictures for drawn ones that are called so, and have an image or need none."""
        candidates = list(filter(self._may_be_drawn, self._paths))
        if not candidates:
            return
        matches = self._match(candidates)
        by_folder = group_pairs((self._folder(path).path, path) for path in candidates)
        for group in by_folder.values():
            of_group = list(filter(None, map(matches.get, group)))
            if self._is_drawn(group, of_group):
                self._drawn.update(group)
                for match in of_group:
                    self.add(match.path, match.image)
        self._drawn.update(self._without_images(candidates))

    @cached_property
    def _others_are_photographs(self) -> bool:
        """Whether there are pictures that are not called as masks, and do not look like any."""
        others = filterfalse(self._may_be_drawn, self._paths)
        first = list(islice(others, MOST_LOOKS_A_FOLDER))
        return bool(first) and not any(map(self._looks, first))

    def _folder(self, path: str) -> _Folder:
        return self._folders[path.rpartition("/")[0]]

    def _may_be_drawn(self, path: str) -> bool:
        if self._folder(path).is_drawn:
            return True
        name = posixpath.basename(path)
        return _HINT.search(name) is not None and file_words(name).is_drawn

    def _match(self, candidates: Sequence[str]) -> dict[str, _Match]:
        """The image that each candidate may be drawn of, where there is one."""
        keys_of = dict(zip(candidates, map(_keys, candidates), strict=True))
        names = set(chain.from_iterable(keys_of.values()))
        images = defaultdict[tuple[object, ...], list[str]](list)
        for path in self._paths:
            if path not in keys_of:
                for key in names.intersection(_keys(path)):
                    for area in self._folder(path).areas:
                        # One more shows that it is not the only one.
                        if len(images[area, key]) < 2:
                            images[area, key].append(path)

        matches = dict[str, _Match]()
        for path, keys in keys_of.items():
            places = product(self._folder(path).areas, keys)
            nearest = next(filter(None, map(images.get, places)), None)
            if nearest is not None:
                image = None
                if len(nearest) == 1:
                    image = nearest[0]
                is_named = any(map(partial(self._is_named, path), nearest))
                matches[path] = _Match(path, image, is_named)
        return matches

    def _is_named(self, path: str, image: str) -> bool:
        """Whether the names of an image and a picture say that one is drawn of the other."""
        folder = self._folder(image)
        # As train_labels is beside train, and masks beside the images themselves.
        is_beside = folder.place == self._folder(path).place
        return is_beside or folder.is_image or file_words(image).is_image

    def _is_drawn(self, group: Sequence[str], matches: Sequence[_Match]) -> bool:
        """Whether the pictures of a folder that are called as masks are drawn of others."""
        folder = self._folder(group[0])
        # Masks of other names than their images are still none: beside a folder for these, or where
        # no other picture looks like one. A class may be called mask, too.
        if len(matches) < _SHARE * len(group):
            is_beside = folder.place in self._places_of_images
            return folder.is_drawn and self._look_drawn(group, without_others=is_beside)

        is_weak = folder.is_weak
        if not folder.is_drawn:
            is_weak = all(map(attrgetter("is_weak"), map(file_words, group)))
        if not is_weak or all(map(attrgetter("is_named"), matches)):
            return True

        # Classes may be called mask and face, and their pictures 1.jpg both.
        sure = list(islice(filter(attrgetter("image"), matches), MOST_LOOKS_A_FOLDER))
        if not sure:
            return folder.is_drawn and self._look_drawn(group)
        masks, images = map(attrgetter("path"), sure), map(attrgetter("image"), sure)
        return all(map(self._looks, masks)) and not any(map(self._looks, images))

    def _look_drawn(self, group: Sequence[str], *, without_others: bool = False) -> bool:
        """Whether pictures look drawn, and others, which are asked unless left out, do not."""
        return look_at(group, self._looks) and (without_others or self._others_are_photographs)

    def _without_images(self, candidates: Iterable[str]) -> list[str]:
        """Pictures called as masks without images of theirs, beside others or alone."""
        strong = sorted(filter(self._is_strong, without(candidates, self._drawn)))
        if self._drawn:
            return strong
        # Without any image, names alone do not say that there are none; a mask may be empty.
        if len(strong) == len(self._paths) and any(map(self._looks, strong[:MOST_LOOKS_A_FOLDER])):
            return strong
        return []

    def _is_strong(self, path: str) -> bool:
        """Whether a picture is called as masks are, and never as classes."""
        folder, words = self._folder(path), file_words(path)
        if folder.is_drawn:
            return not folder.is_weak
        return words.is_drawn and (not words.is_weak or words.rank is None)

    def _best(self, masks: Sequence[str]) -> list[str]:
        """The masks of an image that say the most of kinds of things."""
        by_rank = defaultdict[int, list[str]](list)
        for mask in masks:
            rank = self._rank(mask)
            if rank is not None:
                by_rank[rank].append(mask)
        if not by_rank:
            return []
        return sorted(by_rank[min(by_rank)])

    def _rank(self, path: str) -> int | None:
        """As `Words.rank`, of a picture's name, else of its folders."""
        drawn = filter(attrgetter("is_drawn"), self._folder(path).words)
        ranks: list[int | None] = list(map(attrgetter("rank"), drawn))
        if None in ranks:
            return None
        if _HINT.search(posixpath.basename(path)):
            words = file_words(path)
            if words.is_drawn and (words.rank != 2 or not ranks):
                return words.rank
        return max((rank for rank in ranks if rank is not None), default=2)


def _keys(path: str) -> list[str]:
    """Names by which an image and its masks agree, the closest first."""
    stem, rest = stem_of(path), file_words(path).rest
    head, _, last = rest.rpartition("_")
    keys = [stem, rest, without_band(stem), without_band(rest)]
    # DRIVE calls an image 21_training, and its mask 21_manual1.
    if head and split_named(last):
        keys.append(head)
    return list(dict.fromkeys(keys))


def _places(drawn: Iterable[str]) -> list[str]:
    """The folders of drawn pictures, those with the most first."""
    counts = Counter[str]()
    for path in sorted(drawn):
        folder = posixpath.dirname(path)
        place = ""
        for part in folder.split("/"):
            place = posixpath.join(place, part)
            if folder_words(part).is_drawn:
                break
        counts[place or posixpath.basename(path)] += 1
    return list(dict(counts.most_common()))

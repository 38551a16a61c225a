"""A figure as numbers: matplotlib draws into a recorder, and a page draws what was recorded.

Ticks, contours, legends and formulas arrive here as finished paths. Artists that move have slots of
their own in the order of drawing, so that a move is a few numbers. A number is a sixteenth of a CSS
pixel, y down; `explorer.js` beside the students' settings turns them into SVG.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox, IdentityTransform

from . import style

GRAIN = 16  # numbers a pixel
MARK = -32768  # MARK + code opens a run: 1 move, 2 line, 3 and 4 curves, 5 the way back
FAR = 2040  # no point lies farther out, in pixels
POINTS = {1: 1, 2: 1, 3: 2, 4: 3}
TILE = 72  # points; matplotlib repeats a hatch after so many
SHAPE = 100  # shapes of a scatter are drawn so much larger, and sized in the page
Op = list[Any]  # kind, number of its look, and how many numbers it takes, or a line of type
Drawn = tuple[list[Op], np.ndarray]  # what an artist draws, and its numbers


class Recorder(RendererBase):
    """What was drawn: operations with their numbers; looks and letters are kept once."""

    def __init__(self, width: float, height: float, dpi: float) -> None:
        super().__init__()
        self.width, self.height, self.dpi = width, height, dpi
        self.looks: list[dict[str, Any]] = []
        self.glyphs: list[list[int]] = []
        self.ops: list[Op] = []
        self.numbers: list[np.ndarray] = []
        self._looks: dict[Any, int] = {}
        self._glyphs: dict[Any, int] = {}
        self._lines: dict[Any, Any] = {}
        self._outlines: dict[Any, Any] = {}
        self.moving = False  # whether what is drawn now has a slot

    # What matplotlib asks

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def points_to_pixels(self, points: Any) -> Any:
        return points * self.dpi / 72

    def flipy(self) -> bool:
        return False

    def option_image_nocomposite(self) -> bool:
        return True

    def option_scale_image(self) -> bool:
        return True

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        width, height, below = self._text2path.get_text_width_height_descent(s, prop, ismath)
        scale = self.dpi / 72
        return width * scale, height * scale, below * scale

    # What it draws

    def draw_path(self, gc: Any, path: Path, transform: Any, rgbFace: Any = None) -> None:
        wide = self.points_to_pixels(gc.get_linewidth())
        clip = None
        if rgbFace is None and not gc.get_hatch():  # a line far outside would leave the numbers
            room = gc.get_clip_rectangle() or Bbox.from_bounds(0, 0, self.width, self.height)
            clip = tuple(room.padded(2 * wide + 2).extents)
        # A moving bar must not snap to nothing, nor jump.
        snap = False if self.moving and rgbFace is not None else gc.get_snap()
        drawn = path.cleaned(
            transform=transform, remove_nans=True, clip=clip, curves=True, stroke_width=wide,
            snap=snap, simplify=None if rgbFace is None else False,
        )  # fmt: skip
        self._add("p", self._look(gc, rgbFace), self._stream(drawn))

    def draw_markers(
        self, gc: Any, marker_path: Path, marker_trans: Any, path: Path, trans: Any,
        rgbFace: Any = None,
    ) -> None:  # fmt: skip
        shape = _stream(marker_path.cleaned(transform=marker_trans, curves=True), 0)
        ends = [v[-2:] for v, _ in path.iter_segments(trans, simplify=False) if len(v)]
        at = np.array(ends, float).reshape(-1, 2)
        at = at[(np.abs(at) < FAR).all(axis=1)]  # which no NaN is
        at[:, 1] = self.height - at[:, 1]
        self._add("m", self._look(gc, rgbFace, shape=shape), _grains(at))

    def draw_path_collection(
        self, gc: Any, master_transform: Any, paths: Any, all_transforms: Any, offsets: Any,
        offset_trans: Any, facecolors: Any, edgecolors: Any, linewidths: Any, *rest: Any,
        **options: Any,
    ) -> None:  # fmt: skip
        """One shape in many sizes, as a scatter has it, is a place and a size each."""
        alike = max(map(len, (facecolors, edgecolors, linewidths))) <= 1 < len(offsets)
        if not (alike and len(paths) == 1 and len(all_transforms)):
            return super().draw_path_collection(
                gc, master_transform, paths, all_transforms, offsets, offset_trans, facecolors,
                edgecolors, linewidths, *rest, **options,
            )  # fmt: skip
        ours = self.new_gc()
        ours.copy_properties(gc)
        ours.set_linewidth(linewidths[0] if len(edgecolors) else 0)
        if len(edgecolors):
            ours.set_foreground(edgecolors[0], isRGBA=True)
        at = np.array(offset_trans.transform(offsets))
        at[:, 1] = self.height - at[:, 1]
        sizes = np.resize([t[0, 0] for t in all_transforms], len(at))
        sizes = sizes * master_transform.get_matrix()[0, 0]
        shape = _stream(paths[0].cleaned(transform=Affine2D().scale(SHAPE), curves=True), 0)
        face = facecolors[0] if len(facecolors) else None
        look = self._look(ours, face, shape=shape)
        self._add("c", look, _grains(np.column_stack([at, sizes])))

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        rows, columns = im.shape[:2]
        place: Any = Affine2D()
        if transform is not None:
            place = Affine2D().scale(1 / columns, 1 / rows) + transform
        place = place + Affine2D().translate(x, y).scale(1, -1).translate(0, self.height)
        matrix = [round(float(value), 4) for value in place.frozen().to_values()]
        cells = np.ascontiguousarray(im).reshape(-1).view(np.int16)
        self._add("i", self._look(gc, None, False, image=[columns, rows, *matrix]), cells)

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:  # fmt: skip
        key = s, hash(prop), ismath
        if key not in self._lines:
            self._lines[key] = self._set(s, prop, ismath)
        at = [round(float(x), 2), round(float(self.height - y), 2), -round(float(angle), 2)]
        self.ops.append(["t", self._look(gc, gc.get_rgb(), False), [*at, *self._lines[key]]])

    def _set(self, s: str, prop: Any, ismath: Any) -> list[Any]:
        """A line of type: its size, its letters with their places, and bars of fractions."""
        outlines: Any = self._text2path
        known = {"glyph_map": self._outlines, "return_new_glyphs_only": True}
        if ismath:
            info, new, bars = outlines.get_glyphs_mathtext(prop, s, **known)
        else:
            info, new, bars = outlines.get_glyphs_with_font(outlines._get_font(prop), s, **known)
        for name, (vertices, codes) in new.items():
            self._outlines[name] = vertices, codes
            self._glyphs[name] = len(self.glyphs)
            self.glyphs.append(_stream(Path(np.reshape(vertices, (-1, 2)), codes), 0).tolist())
        letters = [
            [self._glyphs[name], *_short(x, y, scale)] for name, x, y, scale in info
        ]  # fmt: skip
        boxes = [Path(vertices).get_extents().bounds for vertices, _ in bars]
        size = self.points_to_pixels(prop.get_size_in_points()) / outlines.FONT_SCALE
        return [round(size, 5), letters, [[round(float(v), 1) for v in box] for box in boxes]]

    # Numbers and looks

    def _add(self, kind: str, look: int, numbers: np.ndarray) -> None:
        self.ops.append([kind, look, len(numbers)])
        self.numbers.append(numbers)

    def taken(self) -> Drawn:
        """What was drawn since this was asked last."""
        ops, self.ops = self.ops, []
        numbers, self.numbers = self.numbers, []
        return ops, np.concatenate(numbers) if numbers else np.zeros(0, np.int16)

    def _stream(self, path: Path) -> np.ndarray:
        return _stream(path, self.height)

    def _look(self, gc: Any, face: Any, stroke: bool = True, **more: Any) -> int:
        """The number of this look; one that was seen before costs a comparison."""
        box = gc.get_clip_rectangle()
        path, transform = gc.get_clip_path()
        if path is None and box is not None:
            path, transform = Path.unit_rectangle(), Affine2D().scale(*box.size).translate(*box.min)
        offset, dashes = gc.get_dashes()
        key = repr((
            face, stroke, gc.get_rgb(), gc.get_alpha(), gc.get_forced_alpha(), gc.get_linewidth(),
            offset, dashes, gc.get_capstyle(), gc.get_joinstyle(), gc.get_hatch(),
            gc.get_antialiased(), box and box.bounds, path and path.get_extents(transform).bounds,
            [np.asarray(value).tobytes() for value in more.values()],
        ))  # fmt: skip
        if key not in self._looks:
            look = self._attributes(gc, face, stroke)
            look |= {name: np.asarray(value).tolist() for name, value in more.items()}
            if path is not None:
                drawn = path.cleaned(transform=transform or IdentityTransform(), curves=True)
                look["clip"] = self._stream(drawn).tolist()
            if look not in self.looks:
                self.looks.append(look)
            self._looks[key] = self.looks.index(look)
        return self._looks[key]

    def _attributes(self, gc: Any, face: Any, stroke: bool) -> dict[str, Any]:
        """The look as SVG has it."""
        look: dict[str, Any] = {}
        alpha = gc.get_alpha() if gc.get_forced_alpha() else None

        def paint(what: str, color: Any) -> None:
            clear = 1.0 if color is None or len(color) < 4 else color[3]
            opacity = float(clear if alpha is None else alpha)
            look[what] = "none" if color is None or opacity == 0 else to_hex(color[:3])
            if 0 < opacity < 1:
                look[f"{what}-opacity"] = round(opacity, 3)

        def pixels(points: Any) -> float:
            return round(float(self.points_to_pixels(points)), 2)

        paint("fill", face)
        if stroke and gc.get_linewidth() > 0:
            paint("stroke", gc.get_rgb())
            look["stroke-width"] = pixels(gc.get_linewidth())
            offset, dashes = gc.get_dashes()
            if dashes is not None:
                look["stroke-dasharray"] = " ".join(f"{pixels(dash):g}" for dash in dashes)
                look["stroke-dashoffset"] = pixels(offset or 0)
            cap = gc.get_capstyle()
            look["stroke-linecap"] = "square" if cap == "projecting" else cap
            look["stroke-linejoin"] = gc.get_joinstyle()
        if not gc.get_antialiased():
            look["shape-rendering"] = "crispEdges"  # neighbors leave no seam
        if gc.get_hatch():
            tile = float(self.points_to_pixels(TILE))
            lines = gc.get_hatch_path().cleaned(transform=Affine2D().scale(tile), curves=True)
            ink = to_hex(gc.get_hatch_color()[:3])
            look["hatch"] = [
                round(tile), ink, pixels(gc.get_hatch_linewidth()), _stream(lines, tile).tolist()
            ]  # fmt: skip
        return look


def _grains(pixels: np.ndarray) -> np.ndarray:
    """Pixels as numbers."""
    near = np.clip(np.nan_to_num(pixels, posinf=FAR, neginf=-FAR), -FAR, FAR)
    return np.asarray(np.rint(near * GRAIN), np.int16).ravel()


def _stream(path: Path, height: float) -> np.ndarray:
    """A path as one row of numbers; lines that follow a move or a line need no announcement."""
    vertices = np.asarray(path.vertices, float)
    codes = [1] + [2] * (len(vertices) - 1) if path.codes is None else np.asarray(path.codes)
    numbers = _grains(vertices * [1, -1] + [0, height]).tolist()
    row: list[int] = []
    before, i = 0, 0
    while i < len(codes) and codes[i] != Path.STOP:
        code = int(codes[i])
        if code == Path.CLOSEPOLY:
            row.append(MARK + 5)
            before, i = 0, i + 1
            continue
        if code != before or code == Path.MOVETO:
            row.append(MARK + code)
        row += numbers[2 * i : 2 * (i + POINTS[code])]
        before, i = max(code, 2), i + POINTS[code]
    return np.array(row, np.int16)


def _short(x: float, y: float, scale: float) -> list[float]:
    """Where a letter stands; what most letters have in common is left out."""
    place = [round(float(x), 1), round(float(y), 1), round(float(scale), 4)]
    return place if place[1:] != [0.0, 1.0] else place[:1]


class Scenes:
    """A figure whose moving artists are recorded apart from what stands still.

    `place()` draws what has changed since the last time and tells all that is to be seen: the
    number of the scene that stands still, and what each moving artist draws.
    """

    def __init__(self, fig: Figure, artists: Mapping[str, Any]) -> None:
        self._fig = fig
        width, height = (float(side) for side in fig.get_size_inches() * style.DPI)
        self.recorder = Recorder(width, height, style.DPI)
        self.scenes: list[tuple[Drawn, dict[str, Any]]] = []
        self._names = {artist: name for name, artist in _named(artists)}
        self._moving = list(self._names)
        self._drawn: list[Drawn] = [([], np.zeros(0, np.int16)) for _ in self._moving]
        for image in (image for ax in fig.axes for image in ax.images):
            if image.get_interpolation() in ("auto", "antialiased", "nearest"):
                image.set_interpolation("none")  # so its cells arrive, not pixels
        for slot, artist in enumerate(self._moving):
            artist.draw = self._into(slot, artist.draw)  # type: ignore[method-assign]
            artist.stale_callback = None  # its moves leave the rest as it is

    def _into(self, slot: int, draw: Any) -> Any:
        def drawn(renderer: Any, *args: Any, **options: Any) -> None:
            if renderer is not self.recorder or renderer.moving:
                draw(renderer, *args, **options)
                return
            before = renderer.taken()
            renderer.moving = True
            try:
                draw(renderer, *args, **options)
            finally:
                renderer.moving = False
                self._drawn[slot] = renderer.taken()
            renderer.ops, renderer.numbers = [*before[0], ["s", slot, 0]], [before[1]]

        return drawn

    def anew(self) -> None:
        """What stands still has to be drawn again: somebody else has drawn the figure."""
        self._fig.stale = True

    def place(self) -> tuple[int, list[Drawn]]:
        """The scene that stands still, and what moves in it."""
        for ax in self._fig.axes:
            ax.get_xlim()  # a pending autoscale happens here, and marks the figure as stale
        with matplotlib.rc_context(style.RC):
            if self._fig.stale or not self.scenes:
                self._draw_all()
            else:
                for artist in (a for a in self._moving if a.stale):
                    artist.draw(self.recorder)
                self.recorder.taken()  # the marks of slots, which are known
        return len(self.scenes) - 1, list(self._drawn)

    def _draw_all(self) -> None:
        # Axes of a fixed shape find their places in a few rounds, others at once.
        rounds = 12 if any(ax.get_aspect() != "auto" for ax in self._fig.axes) else 1
        places = None
        for _ in range(rounds):
            self._fig.draw_without_rendering()
            before, places = places, [ax.get_position().bounds for ax in self._fig.axes]
            if before is not None and np.allclose(before, places, rtol=0, atol=1e-6):
                break
        self._fig.draw(self.recorder)
        boxes: dict[Any, Any] = {ax: self._box(ax) for ax in self._fig.axes}
        slots = [[boxes.get(artist.axes), self._names[artist]] for artist in self._moving]
        scene = self.recorder.taken(), {"slots": slots}
        if not self.scenes or not _same(scene, self.scenes[-1]):
            self.scenes.append(scene)

    def _box(self, ax: Axes) -> list[Any] | None:
        """Where axes lie and which units they have, so that a page can tell numbers; or None."""
        scales = ax.get_xscale(), ax.get_yscale()
        if ax.name != "rectilinear" or not {*scales} <= {"linear", "log"}:
            return None
        box = ax.get_window_extent()
        place = [box.x0, self.recorder.height - box.y0, box.width, box.height]
        limits = zip((ax.get_xlim(), ax.get_ylim()), scales, strict=True)
        units = [[*map(float, limit), scale == "log"] for limit, scale in limits]
        return [*(round(float(side), 2) for side in place), *units]


def _same(scene: tuple[Drawn, Any], other: tuple[Drawn, Any]) -> bool:
    (ops, numbers), about = scene
    (others, more), also = other
    return ops == others and about == also and np.array_equal(numbers, more)


def _named(artists: object, name: str = "") -> Iterator[tuple[str, Artist]]:
    """Every artist in nested dicts, lists and matplotlib's containers of bars or stems."""
    if isinstance(artists, Artist):
        label = str(artists.get_label() or "_")
        yield name if label.startswith("_") else f"{name}: {label}", artists
    elif isinstance(artists, Mapping):
        for key, value in artists.items():
            yield from _named(value, f"{name} {_word(key)}".strip())
    elif isinstance(artists, list | tuple):
        for number, artist in enumerate(artists, start=1):
            yield from _named(artist, f"{name} {number}" if len(artists) > 1 else name)


def _word(key: object) -> str:
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)


class Message:
    """Places of a grid as data and numbers: for a page that knows so many looks, glyphs, scenes.

    What several places have in common is told once.
    """

    def __init__(self, scenes: Scenes, known: Sequence[int] = (0, 0, 0)) -> None:
        self._scenes, self._known = scenes, known
        self._states: dict[Any, int] = {}
        self.states: list[list[Any]] = []  # slot and operations
        self.numbers: list[np.ndarray] = []
        self.places: list[list[Any]] = []

    def add(self, sentence: str, reached: bool) -> None:
        """The figure as it is now, with its sentence."""
        scene, drawn = self._scenes.place()
        states = [self._number(slot, *state) for slot, state in enumerate(drawn)]
        self.places.append([scene, states, sentence, int(reached)])

    def _number(self, slot: int, ops: list[Op], numbers: np.ndarray) -> int:
        key = slot, repr(ops), numbers.tobytes()
        if key not in self._states:
            self._states[key] = len(self.states)
            self.states.append([slot, ops])
            self.numbers.append(numbers)
        return self._states[key]

    def fail(self, words: str) -> None:
        """A place that cannot be drawn."""
        self.places.append([-1, [], words, 0])

    def news(self) -> tuple[dict[str, Any], list[np.ndarray]]:
        """All of it; the numbers are those of scenes, then those of states."""
        looks, glyphs, scenes = self._known
        recorder, new = self._scenes.recorder, self._scenes.scenes[scenes:]
        head = {
            "looks": recorder.looks[looks:],
            "glyphs": recorder.glyphs[glyphs:],
            "scenes": [[ops, axes] for (ops, _), axes in new],
            "states": self.states,
            "places": self.places,
        }
        self._known = len(recorder.looks), len(recorder.glyphs), len(self._scenes.scenes)
        return head, [*(numbers for (_, numbers), _ in new), *self.numbers]

    @property
    def known(self) -> Sequence[int]:
        """What the page knows once it has the news."""
        return self._known

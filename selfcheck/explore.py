"""Explorers: controls beside one picture that is updated, never rebuilt.

An explorer needs two functions and its controls:

    def setup(fig):  # draw once; return the artists that will change
        ax = fig.subplots()
        ax.set(xlim=(0, 50), ylim=(0, 1), xlabel="age", ylabel="weight", title="The old fade")
        return {"curve": ax.plot([], [])[0]}

    def update(artists, beta):  # move them; say in one sentence what is to be seen now
        age = np.arange(51)
        artists["curve"].set_data(age, (1 - beta) * beta**age)
        return f"With β = {beta:.2f} the newest number weighs {1 - beta:.2f}."

    Explorer(
        setup,
        update,
        controls={"beta": slider(0.5, 0.99, value=0.9, label="β")},
        alt="Weight of a number against its age.",
        goal="let a number keep half its weight for 20 steps",
        reached=lambda beta: beta**20 >= 0.5,
    )
"""

import base64
import functools
import html
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar

import comm
import ipywidgets as widgets
import matplotlib
import numpy as np
import traitlets
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import style
from .png import png_bytes, small_png

FRAMES = "application/x-frames+json"  # pictures for every value of the controls, for slides
GOAL, REACHED = "Goal:", "✓ Goal reached:"  # how the line of the goal begins
SCREEN = "course-screen"  # the comm over which a page tells how fine its screen is


def slider(
    low: float, high: float, *, value: float, step: float = 0.01, label: str = ""
) -> widgets.FloatSlider:
    """A slider over real numbers; its readout shows as many digits as the step has."""
    digits = max(0, -int(Decimal(str(step)).normalize().as_tuple().exponent))
    return widgets.FloatSlider(
        value=value, min=low, max=high, step=step, description=label, readout_format=f".{digits}f"
    )


def int_slider(
    low: int, high: int, *, value: int, step: int = 1, label: str = ""
) -> widgets.IntSlider:
    """A slider over whole numbers."""
    return widgets.IntSlider(value=value, min=low, max=high, step=step, description=label)


def choice(
    options: Iterable[Any] | Mapping[str, Any], *, value: object = None, label: str = ""
) -> widgets.RadioButtons:
    """Radio buttons, the first chosen; a mapping shows its keys and hands over its values.

    No menu: JupyterLab takes the arrow keys for itself. Here Tab and Space always work.
    """
    named = options if isinstance(options, Mapping) else {str(o): o for o in options}
    pairs = list(named.items())
    chosen = pairs[0][1] if value is None else value
    buttons = widgets.RadioButtons(
        options=pairs, value=chosen, description=label, orientation="horizontal"
    )
    return buttons.add_class("widget-inline-hbox")  # label on the left, as sliders have it


def checkbox(*, value: bool = False, label: str = "") -> widgets.Checkbox:
    """A box to tick."""
    return widgets.Checkbox(value=value, description=label, indent=True)


class Explorer(widgets.VBox):  # type: ignore[misc]  # it comes without types
    """Controls, a picture and a sentence that follow each other; optionally a goal to reach.

    `setup(fig)` draws once and returns the artists that change; `update(artists, **params)` moves
    them and returns the sentence shown under the picture. `reached(**params)` tells whether the
    goal is met. `frames`, such as `{"beta": [0.5, 0.9], "delta": 0.1}`, are for slides without a
    kernel: one control moves over a list of values, the others named keep one.
    """

    as_frames: ClassVar[Any] = None  # where frames are wanted: what makes them of an explorer
    scale = style.SCALE  # how fine a picture that moves is drawn; no finer than the screen

    def __init__(
        self,
        setup: Callable[[Figure], Mapping[str, Any]],
        update: Callable[..., str],
        *,
        controls: Mapping[str, widgets.ValueWidget],
        alt: str,
        goal: str | None = None,
        reached: Callable[..., bool] | None = None,
        frames: Mapping[str, object] | None = None,
        size: tuple[float, float] = (style.WIDTH, style.HEIGHT),
        blit: bool = True,
    ) -> None:
        if (goal is None) != (reached is None):
            raise ValueError("A goal needs a test and a test needs a goal: give goal and reached.")
        self.alt = style.one_line(alt, "alt text")
        self.goal = None if goal is None else style.one_line(goal, "goal").rstrip(".")
        self._reached, self.was_reached = reached, False
        self.controls = _dress(controls)
        self._drawing = _Drawing(setup, update, size, blit)
        # JupyterLab runs callbacks in a thread of their own, beside the cell that is running.
        self._lock = threading.RLock()
        self._several = False
        self.frames = dict(frames or {})
        if self.frames:
            self.frames_plan(self.frames)

        width, height = (round(inches * style.DPI) for inches in size)
        self.picture = _Picture(format="png", width=width, height=height)
        self.picture.layout = {"max_width": "100%", "height": "auto", "object_fit": "contain"}
        self.caption, self.goal_line = widgets.HTML(), widgets.HTML()
        self.refresh()
        top = [self.goal_line] if goal else []
        super().__init__([*top, *self.controls.values(), self.picture, self.caption])
        self.add_class("course-explorer")
        comm.get_comm_manager().register_target(SCREEN, _use_screen)
        for control in self.controls.values():
            control.observe(self._on_change, "value")

    # What is set

    @property
    def params(self) -> dict[str, Any]:
        """The present value of every control."""
        return {name: control.value for name, control in self.controls.items()}

    def set(self, **values: Any) -> "Explorer":
        """Move controls as a hand would, and redraw once."""
        self.require_known(values)
        with self._lock:
            self._several = True
            try:
                for name, value in values.items():
                    _put(name, self.controls[name], value)
            finally:
                self._several = False
            self._on_change()
        return self

    # What is seen

    def rgb(self, **params: Any) -> np.ndarray:
        """The picture for these values, (h, w, 3) uint8; controls and display stay as they are."""
        return self.draw(params)[0]

    def describe(self, **params: Any) -> str:
        """The sentence for these values; controls and display stay as they are."""
        return self.draw(params)[1]

    @property
    def is_reached(self) -> bool:
        """Whether the goal is met with the present values."""
        return self.is_met(self.params)

    def is_met(self, params: Mapping[str, Any]) -> bool:
        """Whether the goal is met with these values."""
        return self._reached is not None and bool(self._reached(**params))

    def refresh(self) -> None:
        """Bring picture, alt text, caption and goal line up to the present values."""
        with self._lock:
            rgb, text = self.draw({}, Explorer.scale)
            with self.picture.hold_sync():  # picture and description arrive together
                self.picture.value = png_bytes(rgb)
                self.picture.tooltip = f"{self.alt} {text}"
            self.caption.value = _status(text)
            if self.goal is not None:
                self.goal_line.value = _status(*self._goal_text())

    def draw(self, params: Mapping[str, Any], scale: int = style.SCALE) -> tuple[np.ndarray, str]:
        """The picture and the sentence with these values, the others as they are."""
        self.require_known(params)
        with self._lock:
            return self._drawing(self.params | dict(params), scale)

    def _goal_text(self) -> tuple[str, str]:
        """What the goal line says, and the words that open it."""
        if self.is_reached:
            self.was_reached = True
            return f"{self.goal}.", REACHED
        before = " (Reached before, but not with these values.)" if self.was_reached else ""
        return f"{self.goal}.{before}", GOAL

    def _on_change(self, _change: object = None) -> None:
        with self._lock:
            if self._several:
                return
            try:
                self.refresh()
            except Exception as error:
                # From the browser nobody else would see it: the old picture stays, this says why.
                self.caption.value = _status(f"{type(error).__name__}: {error}", "Not drawn:")
                raise

    def require_known(self, values: Iterable[str]) -> None:
        """Refuse names that no control has."""
        for name in values:
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(f"There is no control {name!r}; this explorer has {known}.")

    # Where no kernel runs

    def __repr__(self) -> str:
        return f"Explorer({', '.join(f'{name}={value!r}' for name, value in self.params.items())})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget for a live notebook; a still picture, its alt text and a line for others."""
        data = super()._repr_mimebundle_(**kwargs) or {}
        rgb, text = self.draw({})
        data["image/png"] = base64.b64encode(small_png(rgb)).decode()
        data["text/plain"] = repr(self)
        if self.as_frames and self.frames:
            data[FRAMES] = type(self).as_frames(self)
        height, width = (pixels // style.SCALE for pixels in rgb.shape[:2])
        about = {"alt": f"{self.alt} {text}", "width": width, "height": height}
        return data, {"image/png": about}

    def frames_plan(self, grid: Mapping[str, Any]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """The one or two controls that move, with their values, and what is held elsewhere."""
        self.require_known(grid)
        moving = {n: list(v) for n, v in grid.items() if np.iterable(v) and not isinstance(v, str)}
        if not 1 <= len(moving) <= 2 or not all(moving.values()):
            raise ValueError(
                "Frames run over one control or two, and the others keep one value: "
                "frames={'beta': [0.5, 0.9, 0.99], 'delta': 0.1}."
            )
        fixed = {n: v for n, v in grid.items() if n not in moving}
        for each, value in [*fixed.items(), *((n, v) for n, vs in moving.items() for v in vs)]:
            _require_possible(each, self.controls[each], value)
        now = self.params
        return moving, {n: v for n, v in fixed.items() if v != now[n]}


class _Drawing:
    """One figure without pyplot: what stands still is kept, what moves is drawn over it."""

    def __init__(
        self,
        setup: Callable[..., Any],
        update: Callable[..., Any],
        size: tuple[Any, ...],
        blit: bool,
    ) -> None:
        self._update, self._blit = update, blit
        with matplotlib.rc_context(style.RC):
            self._fig = Figure(figsize=size, dpi=style.DPI * style.SCALE)
            self._canvas = FigureCanvasAgg(self._fig)
            self._artists = setup(self._fig)
            if not isinstance(self._artists, Mapping):
                raise ValueError(
                    "setup must return a dict of the artists that change, such as "
                    f"{{'curve': line}}; it returned {self._artists!r}."
                )
            self._front: list[Artist] = []
            self._background: Any = None
            self._legends: list[Any] = []
            style.complain_if_unlabeled(self._fig)
            self._draw: Callable[..., Any] = functools.partial(style.draw_first, self._canvas)

    def __call__(self, params: Mapping[str, Any], scale: int) -> tuple[np.ndarray, str]:
        if self._fig.dpi != style.DPI * scale:
            self._fig.set_dpi(style.DPI * scale)
            self._background = None
        text = self._update(self._artists, **params)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                "update must return one sentence that says what is to be seen now; "
                f"it returned {text!r}."
            )
        for ax in self._fig.axes:
            ax.get_xlim()  # a pending autoscale happens here, and marks the figure as stale
        if self._background is None or self._fig.stale:
            self._draw_all()
        else:
            self._canvas.restore_region(self._background)
        for artist in self._front:
            artist.draw(self._canvas.renderer)
        for legend in self._legends:
            self._canvas.restore_region(legend)  # over the lines; drawing it anew costs most
        return np.array(self._canvas.buffer_rgba())[..., :3], " ".join(text.split())

    def _draw_all(self) -> None:
        """Draw what stands still: animated artists are left out, and never make a figure stale."""
        for artist in self._front:
            artist.set_animated(False)
        panels = [ax for ax in self._fig.axes if ax.get_visible()]
        moving = set(_flat(self._artists)) if self._blit else set()
        self._front = [artist for ax in panels for artist in _from_first(moving, ax)]
        for artist in self._front:
            artist.set_animated(True)
        self._draw()
        self._draw = self._canvas.draw
        self._background = self._canvas.copy_from_bbox(self._fig.bbox)
        legends = [legend for ax in panels if (legend := ax.get_legend())]
        self._legends = [self._canvas.copy_from_bbox(box.get_window_extent()) for box in legends]


def _from_first(moving: set[Artist], ax: Axes) -> list[Artist]:
    """The lowest moving artist of the axes and all that is drawn over it, in drawing order."""
    ours = {*ax.lines, *ax.patches, *ax.collections, *ax.images, *ax.texts, *ax.artists}
    if ax.axison and ax.get_frame_on():
        ours |= set(ax.spines.values())
    order = [child for child in ax.get_children() if child in ours]
    order.sort(key=lambda artist: artist.get_zorder())
    first = next((i for i, artist in enumerate(order) if artist in moving), len(order))
    return order[first:]


def _flat(artists: object) -> Iterator[Artist]:
    """Every artist in nested dicts, lists and matplotlib's containers of bars or stems."""
    if isinstance(artists, Artist):
        yield artists
    elif isinstance(artists, Mapping):
        yield from _flat(list(artists.values()))
    elif isinstance(artists, list | tuple):
        for artist in artists:
            yield from _flat(artist)


def _use_screen(_comm: object, message: Mapping[str, Any]) -> None:
    """A page tells its pixels an inch, as a multiple: a coarse screen needs a quarter of them."""
    pixels = message["content"]["data"].get("pixels", style.SCALE)
    Explorer.scale = min(max(math.ceil(pixels), 1), style.SCALE)


class _Picture(widgets.Image):  # type: ignore[misc]  # it comes without types
    """An image whose tooltip is its accessible name; without `description` the browser throws."""

    description = traitlets.Unicode("").tag(sync=True)


def _dress(controls: Mapping[str, widgets.ValueWidget]) -> dict[str, widgets.ValueWidget]:
    """Give every control a label that is not cut, and labels of one width."""
    if not controls:
        raise ValueError("An explorer needs a control: controls={'beta': slider(0, 1, value=0.9)}.")
    for name, control in controls.items():
        if not isinstance(control, widgets.ValueWidget):
            raise ValueError(
                f"The control {name!r} is {control!r}; make it with slider, int_slider, choice or "
                "checkbox."
            )
        control.description = control.description or name
    beside = (c for c in controls.values() if not isinstance(c, widgets.Checkbox))
    longest = max((len(control.description) for control in beside), default=0)
    for control in controls.values():
        control.style.description_width = f"{0.9 * longest + 1:.1f}ch"
        control.layout.width = "auto"
        control.layout.max_width = f"{style.WIDTH * style.DPI:.0f}px"
        if hasattr(control, "continuous_update"):
            control.continuous_update = True
    return dict(controls)


def _put(name: str, control: widgets.ValueWidget, value: object) -> None:
    """Set the value; one that the widget would refuse or shift in silence gets a sentence."""
    _require_possible(name, control, value)
    try:
        control.value = value
    except traitlets.TraitError:
        raise ValueError(f"{name} cannot be {value!r}.") from None


def _require_possible(name: str, control: widgets.ValueWidget, value: Any) -> None:
    """A value that a hand could set: within the slider, or one of the choices."""
    low, high = getattr(control, "min", None), getattr(control, "max", None)
    if low is not None and not low <= value <= high:
        raise ValueError(f"{name} runs from {low} to {high}; {value} lies outside.")
    choices = getattr(control, "options", None)
    if choices is not None and value not in [meant for _, meant in choices]:
        known = ", ".join(repr(meant) for _, meant in choices)
        raise ValueError(f"{name} cannot be {value!r}; it is one of {known}.")


def _status(text: str, lead: str = "") -> str:
    """A line that a screen reader speaks when it changes; the lead stands out by weight."""
    strong = f"<b>{html.escape(lead)}</b> " if lead else ""
    return f'<div role="status" class="course-status">{strong}{html.escape(text)}</div>'

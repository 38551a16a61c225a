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
import html
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import comm
import ipywidgets as widgets
import matplotlib
import numpy as np
import traitlets
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import style
from .png import png_bytes, small_png
from .recorder import Message, Scenes

GOAL, REACHED = "Goal:", "✓ Goal reached:"  # how the line of the goal begins
TARGET = "course-explorer"  # the comm over which a page asks for numbers
FRAME = 0.012  # seconds; the kernel is not held longer at a time for what nobody waits for


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


def player(
    low: float, high: float, *, value: float, step: float = 1, label: str = "", per_second: int = 4
) -> widgets.ValueWidget:
    """A slider with a button that moves it by itself, so many stops a second, to its end.

    Whole numbers make a slider over whole numbers.
    """
    if {int} == {type(number) for number in (low, high, value, step)}:
        control = int_slider(int(low), int(high), value=int(value), step=int(step), label=label)
    else:
        control = slider(low, high, value=value, step=step, label=label)
    control.per_second = per_second
    return control


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
    goal is met; at the start it is not. A page that knows `explorer.js` asks for numbers and draws
    them itself; any other gets pictures. Where no kernel runs, the finest two sliders and what has
    few values move; `baked` names the controls, if it should be others.
    """

    bake: ClassVar[Any] = None  # while a lecture is executed: what makes places to be saved of it
    alive: ClassVar[Any] = weakref.WeakValueDictionary()  # explorers by their name in the page

    def __init__(
        self,
        setup: Callable[[Figure], Mapping[str, Any]],
        update: Callable[..., str],
        *,
        controls: Mapping[str, widgets.ValueWidget],
        alt: str,
        goal: str | None = None,
        reached: Callable[..., bool] | None = None,
        baked: Sequence[str] = (),
        size: tuple[float, float] = (style.WIDTH, style.HEIGHT),
    ) -> None:
        if (goal is None) != (reached is None):
            raise ValueError("A goal needs a test and a test needs a goal: give goal and reached.")
        self.alt = style.one_line(alt, "alt text")
        self.goal = None if goal is None else style.one_line(goal, "goal").rstrip(".")
        self._reached, self.was_reached = reached, False
        self.controls = _dress(controls)
        self.require_known(baked)
        self.baked = list(baked)
        self._update, self._several = update, False
        self._pages: list[_Page] = []
        self._fig, self._artists = _drawn_once(setup, size)
        self._scenes = Scenes(self._fig, self._artists)
        # JupyterLab runs callbacks in a thread of their own, beside the cell that is running.
        self._lock = threading.RLock()
        if self.is_reached:
            raise ValueError("The goal is reached before a control has moved: begin elsewhere.")

        self.width, self.height = (round(inches * style.DPI) for inches in size)
        self.picture = _Picture(format="png", width=self.width, height=self.height)
        self.picture.layout = {"max_width": "100%", "height": "auto", "object_fit": "contain"}
        self.caption, self.goal_line = widgets.HTML(), widgets.HTML()
        self.refresh()
        top = [self.goal_line] if goal else []
        super().__init__([*top, *self.controls.values(), self.picture, self.caption])
        self.add_class(TARGET).add_class(f"{TARGET}-{self.model_id}")
        self.alive[self.model_id] = self
        comm.get_comm_manager().register_target(TARGET, _meet)
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
            self._put(values)
            self._on_change()
        return self

    def _put(self, values: Mapping[str, Any]) -> None:
        """Set these values without a new picture."""
        self._several = True
        try:
            for name, value in values.items():
                _put(name, self.controls[name], value)
        finally:
            self._several = False
        self.was_reached = self.was_reached or self.is_reached

    # What is seen

    def describe(self, **params: Any) -> str:
        """The sentence for these values; controls and display stay as they are."""
        self.require_known(params)
        with self._lock:
            text = self._update(self._artists, **(self.params | params))
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                "update must return one sentence that says what is to be seen now; "
                f"it returned {text!r}."
            )
        return " ".join(text.split())

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
            rgb, text = self._pixels()
            with self.picture.hold_sync():  # picture and description arrive together
                self.picture.value = png_bytes(rgb)
                self.picture.tooltip = f"{self.alt} {text}"
            self.caption.value = _status(text)
            if self.goal is not None:
                before = " (Reached before, but not with these values.)" * self.was_reached
                lead, more = (REACHED, "") if self.is_reached else (GOAL, before)
                self.goal_line.value = _status(f"{self.goal}.{more}", lead)

    def _pixels(self) -> tuple[np.ndarray, str]:
        """The picture as matplotlib draws it, laid out as pages have it, and its sentence."""
        text, layout = self.describe(), self._fig.get_layout_engine()
        self._scenes.place()
        self._fig.set_layout_engine("none")
        try:
            return style.pixels(self._fig, style.DPI * style.SCALE), text
        finally:
            self._fig.set_layout_engine(layout)
            self._fig.stale = False

    def _on_change(self, _change: object = None) -> None:
        with self._lock:
            if self._several:
                return
            try:
                self.was_reached = self.was_reached or self.is_reached
                if self._pages:
                    self._tell()
                    self.describe()
                else:
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

    # What a page draws

    def about(self) -> dict[str, Any]:
        """All that a page has to know beside the places: words, size, controls."""
        return {
            "alt": self.alt,
            "goal": self.goal,
            "was": self.was_reached,
            "size": [self.width, self.height],
            "controls": [_told(control) for control in self.controls.values()],
            "at": self.stops_now(),
        }

    def stops_now(self) -> list[int]:
        """Where each control stands: the number of its stop."""
        now = zip(self.controls.values(), self.params.values(), strict=True)
        return [_number_of(control, value) for control, value in now]

    def at(self, stops: Sequence[int]) -> dict[str, Any]:
        """The values of the controls at these stops."""
        pairs = zip(self.controls.items(), stops, strict=True)
        return {name: _stop(control, number) for (name, control), number in pairs}

    def add_place(self, message: Message, stops: Sequence[int]) -> None:
        """The place at these stops, into a message."""
        params = self.at(stops)
        with self._lock:
            message.add(self.describe(**params), self.is_met(params))

    def message(self, known: Sequence[int] = (0, 0, 0)) -> Message:
        """An empty message for a page that knows so much."""
        return Message(self._scenes, known)

    def answers(self, asked: Mapping[str, Any], known: list[int]) -> Iterator[tuple[Any, bytes]]:
        """What a page gets that stands `at` these stops and wants more of one control's `stops`.

        The place where it stands comes at once, and others as far as a frame's time goes.
        """
        at, which = list(asked["at"]), asked.get("control", 0)
        with self._lock:
            self._put(self.at(at))
        urgent = [stop for stop in asked["stops"] if stop == at[which]]
        others = [stop for stop in asked["stops"] if stop != at[which]]
        for stops, is_last in (urgent, False), (others, True):
            message, end = self.message(known), time.perf_counter() + FRAME
            done: list[int] = []
            for stop in stops:
                if done and time.perf_counter() > end:
                    break
                done.append(stop)
                try:
                    self.add_place(message, [*at[:which], stop, *at[which + 1 :]])
                except Exception as error:  # the page shows it when it comes to this place
                    message.fail(f"{type(error).__name__}: {error}")
            if done or is_last:
                head, numbers = message.news()
                known[:] = message.known
                grid = [done if k == which else [stop] for k, stop in enumerate(at)]
                yield head | {"grid": grid, "done": is_last}, _bytes(numbers)

    def _tell(self, but: object = None) -> None:
        """Pages hear where the controls stand now, but not the one that has moved them."""
        now = self.stops_now()
        for page in (page for page in self._pages if page is not but):
            page.answer({"at": now, "stops": now[:1]}, now=now)

    # Where no kernel runs

    def __repr__(self) -> str:
        return f"Explorer({', '.join(f'{name}={value!r}' for name, value in self.params.items())})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget for a live notebook; a still picture, its alt text and a line for others."""
        data = super()._repr_mimebundle_(**kwargs) or {}
        with self._lock:
            rgb, text = self._pixels()
        still = small_png(rgb, limit=0)  # for those who do not draw by numbers
        data["image/png"] = base64.b64encode(still).decode()
        data["text/plain"] = repr(self)
        about: dict[str, Any] = {"alt": f"{self.alt} {text}"}
        about |= {"width": self.width, "height": self.height}
        if type(self).bake:
            about["explorer"] = type(self).bake(self)
        return data, {"image/png": about}


class _Page:
    """A page that draws by numbers, and what it knows."""

    def __init__(self, line: Any, explorer: Explorer) -> None:
        self.line, self.explorer, self.known = line, explorer, [0, 0, 0]
        line.on_msg(lambda message: self.hear(message["content"]["data"]))
        line.on_close(lambda message: explorer._pages.remove(self))

    def hear(self, asked: Mapping[str, Any]) -> None:
        """Answer, and let other pages follow."""
        moved = asked["at"] != self.explorer.stops_now()
        self.answer(asked)
        if moved:
            self.explorer._tell(but=self)

    def answer(self, asked: Mapping[str, Any], **more: Any) -> None:
        """Send what was asked for."""
        for head, numbers in self.explorer.answers(asked, self.known):
            self.line.send(head | more, buffers=[numbers])


def _meet(line: Any, message: Mapping[str, Any]) -> None:
    """A page can draw by numbers: from now on it gets them instead of pictures."""
    explorer = Explorer.alive.get(message["content"]["data"]["id"])
    if explorer is None:
        line.close()
        return
    page = _Page(line, explorer)
    now = explorer.stops_now()
    page.answer({"at": now, "stops": now[:1]}, **explorer.about())
    explorer._pages.append(page)
    explorer.children = ()  # else sliders that nobody sees would answer with values of their own


def _bytes(numbers: Sequence[np.ndarray]) -> bytes:
    return b"".join(part.tobytes() for part in numbers)


def _drawn_once(setup: Callable[..., Any], size: tuple[float, float]) -> tuple[Figure, Any]:
    """A figure without pyplot, and the artists that will change."""
    with matplotlib.rc_context(style.RC):
        fig = Figure(figsize=size, dpi=style.DPI)
        FigureCanvasAgg(fig)
        artists = setup(fig)
    if not isinstance(artists, Mapping):
        raise ValueError(
            "setup must return a dict of the artists that change, such as "
            f"{{'curve': line}}; it returned {artists!r}."
        )
    style.complain_if_unlabeled(fig)
    return fig, artists


# A stop is a value that a hand can set, by its number: pages know no other values.


def stops_of(control: widgets.ValueWidget) -> int:
    """How many stops a control has."""
    if hasattr(control, "options"):
        return len(control.options)
    if hasattr(control, "step"):
        return int((control.max - control.min) / control.step + 1e-9) + 1
    return 2


def plays(control: widgets.ValueWidget) -> bool:
    """Whether it can move by itself."""
    return hasattr(control, "per_second")


def _stop(control: widgets.ValueWidget, number: int) -> Any:
    if hasattr(control, "options"):
        return control.options[number][1]
    if hasattr(control, "step"):
        return type(control.value)(round(control.min + number * control.step, 10))
    return bool(number)


def _number_of(control: widgets.ValueWidget, value: Any) -> int:
    if hasattr(control, "options"):
        return [meant for _, meant in control.options].index(value)
    return round((value - control.min) / control.step) if hasattr(control, "step") else int(value)


def _told(control: widgets.ValueWidget) -> dict[str, Any]:
    """A control as a page makes it."""
    about: dict[str, Any] = {"label": control.description, "count": stops_of(control)}
    if hasattr(control, "options"):
        return about | {"options": [word for word, _ in control.options]}
    if hasattr(control, "step"):
        digits = str(control.readout_format).strip(".f")
        about |= {"low": control.min, "step": control.step}
        about["digits"] = int(digits) if digits.isdigit() else 0
    if plays(control):
        about["plays"] = control.per_second
    return about


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
                f"The control {name!r} is {control!r}; make it with slider, int_slider, player, "
                "choice or checkbox."
            )
        control.description = control.description or name
    if sum(map(plays, controls.values())) > 1:
        raise ValueError("One control can play; make the others with slider or int_slider.")
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

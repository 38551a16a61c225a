"""In the page's own Python: run a lecture up to an explorer, then move its controls."""

import base64
import contextlib
import io
import json
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from selfcheck.explore import Explorer
from selfcheck.png import png_bytes

shell = InteractiveShell.instance()
explorers: dict[str, Explorer] = {}


def run(cell: str, source: str) -> str:
    """Run a cell; the sentence of its error, if it has one."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        result = shell.run_cell(source, store_history=False)
    error = result.error_in_exec or result.error_before_exec
    if isinstance(result.result, Explorer):
        explorers[cell] = result.result
    return f"{type(error).__name__}: {error}" if error else ""


def controls(cell: str) -> str:
    """What can be moved, as data: sliders, choices and boxes to tick."""
    return json.dumps([described(*pair) for pair in explorers[cell].controls.items()])


def described(name: str, control: Any) -> dict[str, Any]:
    """One control."""
    about = {"name": name, "label": control.description, "value": control.value}
    if hasattr(control, "options"):
        words = [word for word, _ in control.options]
        chosen = [meant for _, meant in control.options].index(control.value)
        return about | {"kind": "choice", "options": words, "value": chosen}
    if hasattr(control, "min"):
        limits = {key: getattr(control, key) for key in ("min", "max", "step")}
        return about | {"kind": "slider", **limits}
    return about | {"kind": "box"}


def draw(cell: str, values: str) -> str:
    """The picture for these values, and the sentences beside it."""
    explorer, asked = explorers[cell], json.loads(values)
    for name, value in asked.items():
        control = explorer.controls[name]
        if hasattr(control, "options"):
            asked[name] = control.options[value][1]
        elif isinstance(control.value, int) and not isinstance(control.value, bool):
            asked[name] = round(value)
    explorer.set(**asked)
    rgb, text = explorer.draw({})
    goal = " ".join(reversed(explorer._goal_text())) if explorer.goal else ""
    png = base64.b64encode(png_bytes(rgb)).decode()
    return json.dumps({"png": png, "text": text, "goal": goal, "alt": explorer.alt})

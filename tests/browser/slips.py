"""Slips that must not keep the green card of a right answer."""

NOT_RUN = "edited and not run"
_SLIPS = {
    "a bracket too many": "{name} = {right})",
    "a name that is not there": "{name} = {right} + no_such_name",
    "the name misspelled": "{name}s = {right}",
    "the line commented out": "# {name} = {right}",
    "compared in place of assigned": "{name} == {right}",
    "an indentation": "  {name} = 1\n{name} = {right}",
    "an exception before the assignment": "1/0\n{name} = {right}",
    "an import that is not there": "import no_such_module\n{name} = {right}",
    "the answer deleted": "",
    NOT_RUN: "{name} = 2*({right})",
}


def slips(name: str, right: str) -> dict[str, str]:
    """What the cell of the answer is changed to."""
    return {slip: text.format(name=name, right=right) for slip, text in _SLIPS.items()}

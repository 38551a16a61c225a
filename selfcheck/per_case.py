"""A check of one case: the engine draws the cases, calls it with one after the other, and ends.

    @exercise
    @each(PENCIL, any_numbers, says="It agreed with the definition on {tried} lists.")
    def mean(mean: Annotated[FunctionAnswer, Function()], *, x) -> Verdict | None:
        answer = mean(x)
        return differs(sum(x) / len(x), answer, at=f"With x = {show(x)}")

Answers stand before the star, and after it the names of what a case consists of: one name for the
case as it is, several for the values of a tuple, or those of a dictionary by its keys. A case that
refutes nothing gives None. What needs a state between cases is a loop over `cases`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .display import show
from .facts import PLACE
from .feedback import Outcome
from .files import CourseError
from .sampling import cases, tried
from .verdicts import Verdict, right

Draw = Callable[[np.random.Generator], Any]
Check = Callable[..., Verdict | None]


def each(
    pencil: Iterable[Any] | Callable[[], Iterable[Any]],
    *draws: Draw,
    fresh: int = 3,
    also: Sequence[Draw] = (),
    says: str | Callable[..., Verdict] = "",
) -> Callable[[Check], Callable[..., Verdict]]:
    """Below `@exercise` or `@NAME.part(…)`: the function is called with one case at a time.

    Cases are those of `cases(pencil, *draws, fresh=…, also=…)`; `pencil` may be a function that
    gives them when they are needed. `says` is what is said when no case refutes the answer, with
    the number of cases for {tried}; or a function of the answers that gives the verdict then.
    """
    given = pencil if callable(pencil) else list(pencil)

    def made(check: Check) -> Callable[..., Verdict]:
        names = _names_after_the_star(check)
        _require_sound(check, names, given, [*draws, *also], says)

        @functools.wraps(check)
        def checked(*answers: Any, **named: Any) -> Verdict:
            known = given() if callable(given) else given
            for case in cases(known, *draws, fresh=fresh, also=also):
                verdict = check(*answers, **named, **_by_name(check, names, case))
                if not isinstance(verdict, Verdict | None) or (verdict and verdict.undecided):
                    raise _refusal(check, f"a case gives a refutation or None, not {verdict!r}.")
                if verdict and verdict.outcome is not Outcome.RIGHT:
                    return verdict
            if not isinstance(says, str):
                return says(*answers, **named)
            return right(says.replace("{tried}", str(tried())))

        whole = inspect.signature(check, eval_str=True)
        answers = [p for name, p in whole.parameters.items() if name not in names]
        vars(checked)["__signature__"] = whole.replace(parameters=answers)
        return checked

    return made


def _names_after_the_star(check: Check) -> list[str]:
    if not inspect.isfunction(check):
        raise CourseError(f"@each stands below what makes an exercise or a part, not on {check!r}.")
    parameters = inspect.signature(check).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    if not names:
        says = f"{check.__name__} names no case: write it after a star, as in (answer, *, x)."
        raise _refusal(check, says)
    return names


def refuse_cases(check: Callable[..., Any]) -> None:
    """Whoever names a case and does not say by @each where it comes from is told so."""
    for p in inspect.signature(check).parameters.values():
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty:
            says = f"{p.name} stands after the star, so it is a case: write @each(…) right above "
            raise _refusal(check, f"{says}{check.__name__}.")


def _require_sound(
    check: Check,
    names: list[str],
    pencil: list[Any] | Callable[[], Iterable[Any]],
    draws: Sequence[Draw],
    says: str | Callable[..., Verdict],
) -> None:
    """Refuse, before any answer comes, what could only fail or try nothing."""
    for draw in draws:
        if not callable(draw):
            raise _refusal(check, f"@each draws by functions of a generator, not by {draw!r}.")
    if callable(pencil):
        if any(p.default is p.empty for p in inspect.signature(pencil).parameters.values()):
            raise _refusal(check, "@each needs cases: write @each(pencil, draw).")
    elif not pencil and not draws:
        raise _refusal(check, "@each has no case to try.")
    else:
        for case in pencil:
            _by_name(check, names, case)
    if isinstance(says, str) and (wrong := PLACE.search(says)):
        raise _refusal(check, f"says may have {{tried}} in it, but not {wrong[0]}.")


def _by_name(check: Check, names: list[str], case: Any) -> dict[str, Any]:
    """What a case consists of, by the names after the star."""
    if isinstance(case, dict) and case.keys() == {*names}:
        return case
    if len(names) == 1:
        return {names[0]: case}
    if isinstance(case, tuple | list) and len(case) == len(names):
        return dict(zip(names, case, strict=True))
    says = f"a case should consist of {', '.join(names)}; here is one that does not: {show(case)}."
    raise _refusal(check, says)


def _refusal(check: Check, says: str) -> CourseError:
    """The sentence for an author, with file and line of the check."""
    code = inspect.unwrap(check).__code__
    return CourseError(f"{code.co_filename}, line {code.co_firstlineno}: {says}")

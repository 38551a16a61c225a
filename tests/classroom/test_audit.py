"""The audit finds what a check lets pass, cannot hang, and finds nothing open in a sample."""

import ast
import importlib
from pathlib import Path

import pytest

from classroom import audit
from selfcheck.files import CourseError

ROOT = Path(__file__).parents[2]
EVERY = 131  # of thousands of mutants; `course audit` tries them all


def steps(source):
    return {mutant for _, mutant in audit._stepped(ast.parse(source))}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a + b", {"a - b", "a", "b"}),
        ("a @ b", {"a", "b", "b @ a"}),
        ("a < b", {"a <= b", "a > b"}),
        ("x[1:]", {"x", "x[2:]", "x[0:]"}),
        ("-x", {"x"}),
        ("A.T", {"A"}),
        ("A.sum(axis=1)", {"A", "A.sum()", "A.sum(axis=2)", "A.sum(axis=0)", "A.mean(axis=1)",
                           "A.prod(axis=1)"}),
        ("np.outer(a, b)", {"a", "np.outer(b, a)"}),
        ("max(a, b)", {"a", "max(b, a)", "min(a, b)"}),
        ("range(n)", {"n", "range(n - 1)"}),
        ("x = 1\nx = x * y", {"x = 2\nx = x * y", "x = 0\nx = x * y", "x = x * y", "x = 1",
                              "x = 1\nx = x / y", "x = 1\nx = x", "x = 1\nx = y"}),
        ("zip(a, b, strict=True)", {"a", "zip(b, a, strict=True)"}),
        ("f = '2*d'", {"f = '2/d'", "f = '3*d'", "f = '1*d'", "f = '0*d'", "f = '2'", "f = 'd'"}),
        ("answer = 'necessary'", set()),
        ("def f():\n    '1 + 1'\n    return x", set()),
    ],
)  # fmt: skip
def test_a_mutant_is_one_small_step_away(source, expected):
    def plain(text):
        return text.replace(" ", "")

    assert set(map(plain, steps(source))) == set(map(plain, expected))


def test_mutants_have_names_that_are_unique_and_always_the_same():
    first = [m.key for m in audit.mutants(ROOT, "10_transformers_are_rnns")]
    audit.mutants.cache_clear()
    assert first == [m.key for m in audit.mutants(ROOT, "10_transformers_are_rnns")]
    assert len(set(first)) == len(first)


def test_lambdas_and_the_lines_of_a_derivation_are_changed_too():
    names = {f.name for f in audit.forms(ROOT, "08_linear_attention") if f.exercise.number == "8.1"}
    assert {"form 1.1.1", "form 1.1.2", "form 1.1.3"} <= names
    sources = [f.source for f in audit.forms(ROOT, "01_rnn_gradients")]
    assert "lambda W, a, dsigma: (W.T * dsigma(a)).T" in sources


def test_an_earlier_answer_that_a_check_may_use_is_not_changed():
    names = {f.name for f in audit.forms(ROOT, "05_two_heads") if f.exercise.name == "other_keys"}
    assert "form 1.2" in names
    assert not {"form 1.3", "form 1.4"} & names


def test_another_example_is_right_as_well_if_an_oracle_finds_so():
    forms = [f for f in audit.forms(ROOT, "01_rnn_gradients") if f.exercise.name == "forgetful"]
    form = next(f for f in forms if f.name == "form 1.1")
    other = audit.Mutant(form, "", "[[11, 11, -22]] * 3")
    assert audit.tried(other) == audit.EQUIVALENT
    assert audit.tried(other._replace(form=form._replace(oracle=None))) == audit.SURVIVED
    assert audit.tried(audit.Mutant(form, "", "[[1, 1, -2]] * 3")) == audit.CAUGHT


def test_an_answer_that_passes_with_some_class_secrets_is_open_whatever_it_is():
    score = audit.Score()
    score.add(audit.LUCKY, ("1.1 name", "a → b"), {"1.1 name": {"a → b": "the same."}})
    assert score.open == [("1.1 name", "a → b")]


def form_of(source, answers):
    (exercise,) = [e for e in audit.declared("11_transport") if e.name == "plan_cost"]
    return audit.Form(exercise, "form", source, answers)


def test_a_mutant_is_caught_or_equivalent():
    def result(source):
        return audit.tried(audit.Mutant(form_of("7", lambda s: (0, eval(s))), "", source))

    assert result("8") == audit.CAUGHT
    assert result("14 / 2") == audit.EQUIVALENT
    assert result("1 / 0") == audit.CAUGHT


def test_a_mutant_that_hangs_or_ends_the_process_is_caught(tmp_path, monkeypatch):
    work = ["def _work(pipe, root):", "    pipe.recv()", "    pipe.send('ready')",
            "    while True:", "        pass", ""]  # fmt: skip
    (tmp_path / "hanging.py").write_text("\n".join(work), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(audit, "_work", importlib.import_module("hanging")._work)
    with audit.Worker(ROOT, seconds=0.1) as worker:
        assert worker.result("10_transformers_are_rnns", 0) == audit.CAUGHT
        assert worker._process is None


def test_a_function_that_is_right_in_another_form_survives():
    (exercise,) = [e for e in audit.declared("11_transport") if e.name == "sinkhorn"]
    forms = [f for f in audit.forms(ROOT, "11_transport") if f.exercise is exercise]
    source = forms[0].source.replace("np.zeros(len(q))", "np.ones(len(q))")
    assert audit.tried(audit.Mutant(forms[0], "", source)) == audit.SURVIVED


def test_every_survivor_with_a_reason_is_still_a_mutant():
    keys = {m.key for stem in audit.chosen(ROOT, []) for m in audit.mutants(ROOT, stem)}
    known = audit.survivors(ROOT).items()
    assert {(exercise, change) for exercise, changes in known for change in changes} <= keys


def test_survivors_need_a_reason_each():
    for exercise, changes in audit.survivors(ROOT).items():
        assert exercise.split(".")[0].isdecimal()
        assert all(reason.endswith(".") for reason in changes.values())


def test_a_survivor_is_open_until_it_has_a_reason():
    score = audit.Score()
    known = {"1.1 name": {"a → b": "the same.", "b → c": ""}}
    score.add(audit.SURVIVED, ("1.1 name", "a → b"), known)
    score.add(audit.SURVIVED, ("1.1 name", "b → c"), known)
    score.add(audit.CAUGHT, ("1.1 name", "c → d"), known)
    score.add(audit.EQUIVALENT, ("1.1 name", "d → e"), known)
    assert (score.reviewed, score.caught, score.equivalent, score.tried) == (1, 1, 1, 4)
    assert score.open == [("1.1 name", "b → c")]


def test_the_score_replaces_the_marked_line_of_the_readme(tmp_path):
    (tmp_path / "README.md").write_text(f"# Course\n\nold {audit.MARK}\nend\n", encoding="utf-8")
    audit.write_score(tmp_path, audit.Score(caught=2000))
    lines = (tmp_path / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[2].startswith("The checks, audited: 2,000 mutants of right answers tried, 2,000")
    assert lines[3] == "end"
    (tmp_path / "README.md").write_text("# Course\n", encoding="utf-8")
    with pytest.raises(CourseError, match="needs one line"):
        audit.write_score(tmp_path, audit.Score())


def test_a_unit_that_does_not_exist_gets_a_sentence():
    with pytest.raises(CourseError, match="no unit"):
        audit.chosen(ROOT, ["77"])


def test_nothing_open_survives_in_a_sample_of_all_units():
    score = audit.audit(ROOT, audit.chosen(ROOT, []), every=EVERY)
    assert not score.open
    assert score.caught > score.tried / 2

"""Cells that a person should look at are found by their text."""

import pytest

from classroom.grading.flags import flags
from tests.classroom.grading.making import graded, solved

FORBIDDEN = ["course_utils.transport.sinkhorn", "course_utils.attention.causal_attention"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("from course_utils.transport import sinkhorn", "reaches for transport.sinkhorn"),
        ("from course_utils import transport as t\nf = transport.sinkhorn", "transport.sinkhorn"),
        ("import course_utils.transport\nf = course_utils.transport.sinkhorn", "sinkhorn"),
        ("f = check._by_linear_program", "the inside of a check"),
        ("f = vars(check)['by_definition']", "the inside of a check"),
    ],
)
def test_a_cell_that_reaches_is_named(source, says):
    assert says in " ".join(flags("answer-a", source, FORBIDDEN))


@pytest.mark.parametrize(
    "source",
    [
        "check.claim(word)",
        "for w in words:\n    check.claim(w)",  # how often it is called is counted
        "check.claim.hint()",
        "for i in range(3): total += i",
        "from course_utils.attention import softmax",
        "def sinkhorn(C, p, q): return C",
        "this is no Python",
    ],
)
def test_an_ordinary_cell_is_not(source):
    assert flags("answer-a", source, FORBIDDEN) == []


def test_an_answer_from_the_package_earns_nothing_and_is_looked_at(judge_process):
    cell = "from course_utils.attention import causal_attention"
    grade, _ = graded(judge_process, solved("04_attention", causal_attention=cell), "04_attention")
    result = next(r for r in grade.results if r.name == "causal_attention")
    assert result.earned == 0
    assert "attention.causal_attention does not run here: this exercise asks you" in result.says
    assert any("reaches for attention.causal_attention" in says for says in result.by_hand)


ROUTES = {
    "in a thread": "ThreadPoolExecutor(1).submit(attend, Q, K, V).result()",
    "in a thread from before": "POOL.submit(attend, Q, K, V).result()",
    "in an empty context": "Context().run(attend, Q, K, V)",
    "by its module": "importlib.reload(course_utils.attention).causal_attention(Q, K, V)",
    "pickled": "pickle.loads(pickle.dumps(attend))(Q, K, V)",
    "by a check": "by_definition(Q, K, V, np.tril(np.ones((len(Q), len(Q)), dtype=bool)))",
}


@pytest.mark.parametrize("call", ROUTES.values(), ids=ROUTES)
def test_a_route_to_what_is_reserved_earns_nothing(judge_process, call):
    cell = f"""
import importlib, pickle
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
import course_utils.attention
from course_utils.attention import causal_attention as attend
from course_utils.checks.attention import by_definition
POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()
def causal_attention(Q, K, V):
    return {call}"""
    grade, _ = graded(judge_process, solved("04_attention", causal_attention=cell), "04_attention")
    result = next(r for r in grade.results if r.name == "causal_attention")
    assert result.earned == 0
    assert "does not run here: this exercise asks you to write it" in result.says

"""notebooks/glossary.toml: the field's words, each in bold where a lecture introduces it."""

import re
from pathlib import Path

import nbformat.v4 as v4
import pytest

from classroom.glossary import Term, as_table, in_bold, read_terms
from classroom.notebooks import read
from classroom.site.reading import read_page

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TERMS = read_terms(NOTEBOOKS)
# What a reader of other books looks up, by the unit that introduces it.
WORDS = {
    "01": "bias; saturation; spectral norm; spectral radius; gradient clipping; gated unit; LSTM; "
    "GRU; backpropagation through time; learning rate",
    "02": "curvature; condition number; heavy ball; Nesterov momentum",
    "03": "weight decay; decoupled weight decay; overfitting; held-out set; calibration",
    "04": "self-attention; cross-attention; causal mask; autoregressive; head; encoder; decoder; "
    "embedding; positional encoding; sinusoidal encoding; rotary encoding; residual connection; "
    "logits; temperature",
    "06": "feed-forward layer; backward pass; activation checkpointing; arithmetic intensity",
    "07": "kernel",
    "08": "feature map; low rank; online softmax",
    "09": "random features",
    "10": "teacher forcing; KV cache; throughput; latency",
    "11": "earth mover's distance; Wasserstein distance; coupling; complementary slackness; "
    "dual certificate; displacement interpolation; entropic regularization",
    "12": "computational graph; backpropagation; layer normalization; perplexity",
}


@pytest.mark.parametrize("unit", WORDS)
def test_the_field_s_words_have_a_row(unit):
    known = {term.name for term in TERMS}
    assert [word for word in WORDS[unit].split("; ") if word not in known] == []


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_is_in_bold_where_the_glossary_says_and_means_one_sentence(term):
    bold = in_bold(read(NOTEBOOKS / f"{term.unit}.ipynb"))
    places = {section for section, words in bold if term.name.casefold() in words.casefold()}
    assert term.section in places
    assert re.fullmatch(r"[A-Z$].*\.", term.sentence)
    assert "|" not in term.sentence


def test_a_term_has_one_row():
    names = [term.name.casefold() for term in TERMS]
    assert len(set(names)) == len(names)


def test_the_table_names_the_section():
    term = Term("head", "One attention of several.", "04_attention", "6")
    row = "| head | One attention of several. | [04 · 6](04_attention.ipynb) |"
    assert as_table([term]).splitlines()[-1] == row


def test_on_the_site_a_term_in_bold_has_its_sentence_to_hover_over(tmp_path):
    terms = '[[term]]\nname = "head"\nsentence = "One of several."\nunit = "01_a"\nsection = ""\n'
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "glossary.toml").write_text(terms, encoding="utf-8")
    cells = [v4.new_markdown_cell("# A\n\nA **head** and a **tail**.", id="title")]
    page = read_page(tmp_path / "notebooks" / "01_a.ipynb", v4.new_notebook(cells=cells), {})
    assert '<strong title="One of several.">head</strong>' in page.body
    assert "<strong>tail</strong>" in page.body

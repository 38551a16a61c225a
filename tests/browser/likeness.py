"""How far the picture that a page draws is from the one that matplotlib draws."""

import io

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from classroom.notebooks import code_cells, read
from classroom.picture_diff import pictures
from tests.places import our_notebooks

# Letters and edges may lie a pixel or two apart: hinted in one picture, and not in the other.
NEAR, LIKE, MOST = 2, 160, 0.001  # pixels, levels of 255, share of a picture
WIDE = 760  # pixels, about the width of an explorer on a page
# Matplotlib's picture stands in for the drawing: the same place, size and theme.
STAND_IN = """async (svg, png) => {
  const picture = document.createElement("img");
  picture.className = "course-picture";
  picture.src = `data:image/png;base64,${png}`;
  const {width, height} = getComputedStyle(svg);
  const how = {flex: "none", maxHeight: "none", objectFit: "contain", objectPosition: "center"};
  Object.assign(picture.style, {width, height, ...how});
  await picture.decode();
  svg.likeness = picture;
  svg.style.display = "none";
  svg.after(picture);
}"""
# What comes into view may move what stands below it.
SETTLE = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
LEAVE = "svg => { svg.likeness.remove(); svg.style.display = ''; }"


def saved_explorers(lecture: str = "") -> dict[str, dict]:
    """Lecture and cell of each explorer: its numbers, its picture at the start and its size."""
    return {
        f"{path.stem[:2]} {cell.id}": {
            "numbers": output.metadata["image/png"].explorer,
            "png": output.data["image/png"],
            "width": output.metadata["image/png"].width,
            "height": output.metadata["image/png"].height,
        }
        for path in our_notebooks("notebooks")
        if path.stem.startswith(lecture)
        for cell in code_cells(read(path))
        for output in pictures(cell.outputs)
        if "explorer" in output.metadata["image/png"]
    }


def unlike_matplotlib(page: Page, lecture: str, bring_into_sight: str = "x => 0") -> list[str]:
    """Of all explorers of the lecture, which the page draws from saved numbers, those unlike it."""
    saved = saved_explorers(lecture[:2])
    figures = page.locator("figure[data-explorer]")
    expect(figures).to_have_count(len(saved))
    found = []
    for figure, (name, one) in zip(figures.all(), saved.items(), strict=True):
        figure.evaluate(bring_into_sight)
        share = far_from(figure.locator("svg.course-picture"), one["png"])
        if share >= MOST:
            found.append(f"{name}: {share:.5f}")
    return found


def far_from(svg: Locator, png: str) -> float:
    """The share of the drawing that is unlike matplotlib's picture, a PNG in base 64."""
    svg.scroll_into_view_if_needed()
    svg.evaluate(SETTLE)
    drawn = svg.screenshot()
    svg.evaluate(STAND_IN, png)
    told = svg.locator("xpath=following-sibling::img[1]").screenshot()
    svg.evaluate(LEAVE)
    return unlike(drawn, told)


def unlike(one: bytes, other: bytes) -> float:
    """The share of pixels of a picture that have nothing like them nearby in the other one."""
    a, b = _seen(one), _seen(other)
    rows, columns = np.minimum(a.shape, b.shape)[:2]  # a picture may begin within a pixel
    a, b = a[:rows, :columns], b[:rows, :columns]
    return max(_unlike(a, b), _unlike(b, a))


def _seen(shot: bytes) -> np.ndarray:
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.thumbnail((WIDE, WIDE))  # a slide shows it larger, and its edges as well
    return np.asarray(picture, int)


def _unlike(a, b):
    """Only a pixel that has another color in its own place is looked for nearby."""
    rows, columns = np.nonzero(np.abs(a - b).max(axis=2) > LIKE)
    near = range(-NEAR, NEAR + 1)
    places = [((rows + y) % a.shape[0], (columns + x) % a.shape[1]) for y in near for x in near]
    apart = [np.abs(a[rows, columns] - b[place]).max(axis=1) for place in places]
    return np.sum(np.min(apart, axis=0) > LIKE) / a[..., 0].size

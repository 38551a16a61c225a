"use strict";
// A click on the head of a column sorts the heat map by it; a second one turns it around.
for (const table of document.querySelectorAll("table.heat")) {
  const body = table.tBodies[0], told = document.getElementById("sorted");
  const value = (row, place) => {
    const text = row.cells[place].textContent.trim();
    return place ? (text === "" ? -1 : Number(text)) : text.toLowerCase();
  };
  table.tHead.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th"), place = Number(button.dataset.place);
    const before = head.getAttribute("aria-sort");
    const up = before ? before === "descending" : place === 0;
    for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1);
    const rows = [...body.rows].map(row => [value(row, place), row]);
    rows.sort((a, b) => compare(a[0], b[0]));
    body.append(...rows.map(pair => pair[1]));
    told.textContent = `Sorted by ${button.dataset.name}, ${up ? "smallest" : "largest"} first.`;
  });
}

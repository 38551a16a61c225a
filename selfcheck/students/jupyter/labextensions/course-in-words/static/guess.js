// A prediction: the reader says what will happen, and only then sees it. Pages and JupyterLab ask alike.
(() => {
  const STYLE = `
.course-guess { max-width: 46rem; margin: .5rem 0 1rem; padding: .6rem 1rem .7rem; border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-left-width: 4px; border-radius: 6px; font-size: 1em; line-height: 1.5; }
.course-guess fieldset { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3em 1.4em; min-width: 0; margin: 0; padding: 0; border: 0; }
.course-guess legend { float: left; padding: 0; font-weight: 600; }
.course-guess label { display: inline-flex; align-items: baseline; gap: .45em; max-width: 100%; }
.course-guess input:not([type=radio]) { width: 9em; min-width: 0; max-width: 100%; padding: .15em .5em; font: inherit; color: inherit; background: transparent; border: 1px solid color-mix(in srgb, currentColor 55%, transparent); border-radius: 4px; }
.course-guess input[data-words] { width: 22em; }
.course-guess button { margin-top: .5em; padding: .2em .9em; font: inherit; color: inherit; background: color-mix(in srgb, currentColor 8%, transparent); border: 1px solid color-mix(in srgb, currentColor 55%, transparent); border-radius: 5px; cursor: pointer; }
.course-guess [role=status] { margin: 0; font-weight: 600; }
@media print { .course-guess { display: none; } }`;
  let number = 0;

  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  const value = text => Number(text.replace("−", "-").replace(",", ".").replace(/\s*%$/, ""));
  const ended = words => /[.?!]$/.test(words) ? words : `${words}.`;

  // What is said about a guess, once the answer is in sight.
  function answered({ choices, is, unit }, said) {
    if (choices) {
      const right = [is].flat().map(k => choices[k]);
      if (said === undefined) return "";
      return right.includes(choices[said]) ? ended(`You said “${choices[said]}”, and so it is`)
        : ended(`You said “${choices[said]}”; it is “${right.join("” and “")}”`);
    }
    if (!said) return "";
    if (is === undefined) return ended(`You said “${said}”`);
    const told = unit ? `${is} ${unit}` : is;
    return ended(value(said) === value(is) ? `You said ${said}, and so it is` : `You said ${said}; it is ${told}`);
  }

  // A form for one guess; `open` shows what happens.
  function ask(about, open) {
    const name = `course-guess-${number++}`, { choices, is, unit = "" } = about, title = about.about ?? "Your guess";
    const fields = choices
      ? choices.map((choice, k) => make("label", {}, make("input", { type: "radio", name, value: k }), choice))
      : [make("label", {}, make("input", { type: "text", name, autocomplete: "off" }), unit)];
    if (!choices) {
      fields[0].firstChild.setAttribute("aria-label", `${title} ${unit}`.trim());
      if (!/^[\d.,−-]*$/.test(is ?? "?")) fields[0].firstChild.dataset.words = "";
    }
    const says = make("p");
    says.setAttribute("role", "status");
    const button = make("button", { textContent: "Show what happens" });
    const form = make("form", { className: "course-guess" },
      make("fieldset", {}, make("legend", { textContent: title }), ...fields), button, says);
    form.dataset.lmSuppressShortcuts = "";
    form.addEventListener("keydown", event => { // JupyterLab would go to a cell instead
      event.stopPropagation();
      if (event.key !== "Enter" || event.target === button) return;
      event.preventDefault();
      form.requestSubmit();
    });
    form.addEventListener("submit", event => {
      event.preventDefault();
      const said = new FormData(form).get(name) ?? undefined;
      says.textContent = answered(about, choices ? said : said?.trim());
      button.hidden = true;
      open();
    });
    return form;
  }

  document.head.append(make("style", { textContent: STYLE }));
  window.courseGuess = { ask, answered };
})();

  // --- The section of a task --------------------------------------------------------------

  function facts(names, row) {
    const entries = names.map((name) => columns.get(name))
      .filter((column) => column && column.values[row] !== null)
      .flatMap((column) => [make("dt", {}, column.title),
        make("dd", { class: `of-${column.name}` },
          column.name === "verdict" ? verdictMark(textOf(column, row)) : textOf(column, row))]);
    return entries.length ? make("dl", { class: "facts" }, ...entries) : make("p", {}, "Nothing is known.");
  }

  // Rows that ask the same of the same system.
  function alike(row) {
    const same = ["system", "formula", "formula_id"].map((name) => columns.get(name)).filter(Boolean);
    const found = [];
    for (let other = 0; other < nRows && found.length <= MOST_ALIKE; other++) {
      const equal = same.every(({ values }) => values[other] === values[row]);
      if (equal && other !== row) found.push(other);
    }
    return found;
  }

  function alikeSection(row) {
    const found = alike(row);
    if (!found.length) return null;
    const about = (other) => [columns.get("configuration"), columns.get("verdict")]
      .filter(Boolean).map((column) => textOf(column, other)).join(": ");
    const items = found.slice(0, MOST_ALIKE).map((other) => make("li", {},
      make("a", { href: `#task-${other + 1}` }, `Task ${number(other + 1)}`), ` ${about(other)}`));
    if (found.length > MOST_ALIKE) items.push(make("li", {}, "and more"));
    return make("div", {}, make("h3", {}, "The same question"), make("ul", {}, ...items));
  }

  function neighbour(row, step) {
    const place = view.rows.indexOf(row);
    return place < 0 ? undefined : view.rows[place + step];
  }

  function ways(row) {
    const go = (text, id, other) => plainButton(text, () => {
      if (other !== undefined) openTask(other);
    }, { id, "aria-disabled": String(other === undefined) });
    return make("div", { class: "controls" },
      go("Previous task", "task-previous", neighbour(row, -1)),
      go("Next task", "task-next", neighbour(row, 1)),
      plainButton("Back to the table", closeTask, { id: "task-close" }));
  }

  function showTask(row) {
    const section = byId("task");
    const named = [...QUESTION, ...PLAN];
    const statistics = [...columns.keys()].filter((name) => !named.includes(name));
    const title = make("h2", { id: "task-title", tabindex: "-1" }, `Task ${number(row + 1)}`);
    section.replaceChildren(title, ways(row), facts(QUESTION, row),
      ...[lassoSection(row), alikeSection(row)].filter(Boolean),
      make("div", { class: "panels" },
        make("div", {}, make("h3", {}, "Plan"), facts(PLAN, row)),
        make("div", {}, make("h3", {}, "Statistics"), facts(statistics, row))));
    section.setAttribute("aria-labelledby", "task-title");
    section.hidden = false;
  }

  const lineAt = (row) => byId("table").querySelector(`tr[data-row="${row}"]`);

  // Beside the page where there is room (see the style), else below the row; above the
  // table if the row is not in it.
  function placeTask() {
    const section = byId("task");
    const line = view.task === null || WIDE.matches ? null : lineAt(view.task);
    const old = byId("task-row");
    if (line) {
      const cell = make("td", { role: "cell", class: "detail", colspan: view.columns.length + 1 }, section);
      line.after(make("tr", { role: "row", id: "task-row" }, cell));
    } else if (view.task !== null && !WIDE.matches) byId("found").before(section);
    else if (section.previousElementSibling !== byId("tasks")) byId("tasks").after(section);
    old?.remove();
    if (view.task === null) delete document.documentElement.dataset.task;
    else document.documentElement.dataset.task = "open";
  }

  // The row of the task; the table stays as it is.
  function markTask() {
    byId("table").querySelector("tr[aria-current]")?.removeAttribute("aria-current");
    if (view.task !== null) lineAt(view.task)?.setAttribute("aria-current", "true");
    placeTask();
  }

  let opener = null; // a link outside the table, which the focus goes back to

  function openTask(row, link = null) {
    const besides = link !== null && !byId("tasks").contains(link) && !byId("task").contains(link);
    if (besides) opener = link;
    view.task = row;
    const place = view.rows.indexOf(row);
    const page = place < 0 ? view.page : Math.floor(place / view.size);
    showTask(row);
    if (page === view.page) markTask();
    else turnTo(page);
    remember();
    lookAtTask(besides);
  }

  // Where the task is beside what was clicked, nothing is scrolled.
  function lookAtTask(besides = false) {
    byId("task").scrollTop = 0;
    byId("task-title").focus({ preventScroll: true });
    const line = lineAt(view.task);
    if (!WIDE.matches) (line ?? byId("task")).scrollIntoView();
    else if (!besides) line?.scrollIntoView({ block: "nearest" });
  }

  function hideTask() {
    const row = view.task;
    view.task = null;
    byId("task").hidden = true;
    markTask();
    const back = opener?.isConnected ? opener : lineAt(row)?.querySelector("a");
    opener = null;
    (back ?? byId("tasks")).focus();
  }

  function closeTask() {
    hideTask();
    remember();
  }

  // Links do what they say without forgetting the filters; what opens a new tab does not
  // get here.
  function followLinks(event) {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const found = /^#task-(\d+)$/.exec(link.hash);
    if (found) openTask(Number(found[1]) - 1, link);
    else if (link.className === "skip") byId("tasks").focus();
    else if (link.dataset.filter) {
      view.filters = new Map([[link.dataset.filter, Number(link.dataset.value)]]);
      view.text = "";
      fillControls();
      choose();
      byId("tasks").scrollIntoView();
    } else return;
    event.preventDefault();
  }

  // Verdicts and systems above the table lead to their tasks.
  function prepareFilters() {
    for (const place of document.querySelectorAll("[data-filter]")) {
      const { filter, value } = place.dataset;
      const number = columns.get(filter)?.texts.indexOf(value) ?? -1;
      if (number < 0) continue;
      const href = `#${new URLSearchParams([[filter, value]])}`;
      place.replaceChildren(make("a", { href, "data-filter": filter, "data-value": number,
        title: place.title || null }, ...place.childNodes));
    }
  }

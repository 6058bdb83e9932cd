  // --- The table -------------------------------------------------------------------

  const nPages = () => Math.max(1, Math.ceil(view.rows.length / view.size));

  const verdictMark = (verdict) => make("span", { class: `verdict ${verdict}` },
    make("span", { "aria-hidden": "true" }, SYMBOLS[verdict] ?? ""), ` ${verdict}`);

  function cellOf(name, row) {
    const column = columns.get(name);
    const text = textOf(column, row);
    const inner = name === "formula" ? make("a", { href: `#task-${row + 1}` }, nameOf(row))
      : name === "verdict" ? verdictMark(text)
        : name === "system" ? withoutFolder(text) : text;
    const kind = column.kind === "number" ? "number" : `of-${name}`;
    return make("td", { role: "cell", class: kind, "data-title": column.title }, inner);
  }

  function lineOf(row) {
    const first = make("td", { role: "cell", class: "number", "data-title": "Task" },
      number(row + 1));
    const current = row === view.task ? "true" : null;
    return make("tr", { role: "row", "data-row": row, "aria-current": current }, first,
      ...view.columns.map((name) => cellOf(name, row)));
  }

  function show() {
    const begin = view.page * view.size;
    const lines = view.rows.slice(begin, begin + view.size).map(lineOf);
    if (byId("task-row")) byId("tasks").after(byId("task")); // it outlives the row
    byId("table").tBodies[0].replaceChildren(...lines);
    showHeads();
    showOrder();
    showTotals();
    showCount(begin, lines.length);
    showPages();
    placeTask();
  }

  function showCount(begin, count) {
    const total = view.rows.length;
    const of = total === nRows ? "tasks" : `tasks found, of ${number(nRows)}`;
    byId("found").textContent = total === 0 ? `No task found, of ${number(nRows)}.`
      : `Tasks ${number(begin + 1)} to ${number(begin + count)} of ${number(total)} ${of}.`;
    byId("asked").textContent = asked();
    // A column with too many texts for a choice is filtered by links only.
    const hidden = [...view.filters.keys()].some((name) => !byId(`filter-${name}`));
    byId("asked").className = hidden ? "" : "paper";
  }

  // --- Totals: of the rows that are found ----------------------------------------------

  const SUMMED = ["states", "transitions", "seconds"];

  function sumOf(name, rows) {
    const values = rows.map((row) => columns.get(name).values[row]).filter((v) => v !== null);
    return values.length ? values.reduce((a, b) => a + b, 0) : null;
  }

  function showTotals() {
    const verdicts = columns.get("verdict");
    const counts = verdicts.texts.map((text, value) =>
      [text, view.rows.filter((row) => verdicts.values[row] === value).length]);
    const said = counts.filter(([, n]) => n).map(([text, n]) => `${number(n)} ${text}`);
    for (const name of SUMMED.filter((each) => columns.has(each))) {
      const sum = sumOf(name, view.rows);
      if (sum !== null) said.push(`${number(sum)} ${columns.get(name).title.toLowerCase()}`);
    }
    byId("totals").textContent = said.length ? `In all: ${said.join(", ")}.` : "";
    showSummary();
  }

  // The table of verdicts at the top.
  function showSummary() {
    const reasons = columns.get("reason");
    const textAt = (column, row) => (column ? textOf(column, row) : "");
    for (const line of byId("summary").querySelectorAll("tr[data-verdict]")) {
      const { verdict, reason } = line.dataset;
      const rows = view.rows.filter((row) => textOf(columns.get("verdict"), row) === verdict
        && textAt(reasons, row) === reason);
      const share = view.rows.length ? (100 * rows.length) / view.rows.length : 0;
      const seconds = columns.has("seconds") ? sumOf("seconds", rows) : null;
      const [tasks, percent, total] = line.querySelectorAll("td.number");
      tasks.textContent = number(rows.length);
      percent.textContent = `${share.toFixed(1)} %`;
      total.textContent = seconds === null ? "" : number(seconds);
      line.querySelector("rect").setAttribute("width", (1.2 * share).toFixed(1));
    }
  }

  // --- Columns ---------------------------------------------------------------------------

  let headed = null; // the columns that have heads

  function showHeads() {
    if (headed === view.columns.join()) return;
    headed = view.columns.join();
    const line = byId("table").tHead.rows[0];
    const heads = view.columns.map((name) => make("th", { role: "columnheader", scope: "col",
      "data-name": name, class: columns.get(name).kind === "number" ? "number" : null },
    columns.get(name).title));
    line.replaceChildren(line.cells[0], ...heads);
    prepareHeads(heads);
  }

  function chooseColumn(name, wanted) {
    const names = [...columns.keys()].filter((each) => (
      each === name ? wanted : view.columns.includes(each)));
    if (!names.length) names.push(...usual);
    // The usual ones in their usual order, then the others.
    view.columns = [...usual.filter((each) => names.includes(each)),
      ...names.filter((each) => !usual.includes(each))];
    show();
    remember();
  }

  function columnsField() {
    const boxes = [...columns.values()].map((column) => {
      const box = make("input", { type: "checkbox", value: column.name,
        change: () => chooseColumn(column.name, box.checked) });
      box.checked = view.columns.includes(column.name);
      return make("label", {}, box, ` ${column.title}`);
    });
    return make("details", { id: "columns" }, make("summary", {}, "Columns"),
      make("div", { class: "choices" }, ...boxes));
  }

  function showOrder() {
    for (const head of byId("table").tHead.rows[0].cells) {
      const sorted = (view.sort ?? "") === head.dataset.name;
      const order = view.descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", sorted ? order : "none");
      const arrow = !sorted ? "" : view.descending ? " \u25be" : " \u25b4";
      head.querySelector(".arrow").textContent = arrow;
    }
  }

  function sortBy(name) {
    const again = (view.sort ?? "") === name;
    view.descending = again && !view.descending;
    view.sort = name || null;
    choose();
  }

  function prepareHeads(heads) {
    for (const head of heads) {
      const button = make("button", { type: "button", click: () => sortBy(head.dataset.name) },
        head.textContent, make("span", { class: "arrow", "aria-hidden": "true" }));
      head.replaceChildren(button);
    }
  }

  // --- Pages of the table ------------------------------------------------------------

  const within = (page) => Math.min(Math.max(page, 0), nPages() - 1);

  function turnTo(page) {
    view.page = within(page);
    show();
    remember();
  }

  // All that is found goes on paper, up to a bound.
  function preparePrinting() {
    let before = null;
    window.addEventListener("beforeprint", () => {
      before ??= [view.page, view.size];
      [view.page, view.size] = [0, MOST_PRINTED];
      show();
    });
    window.addEventListener("afterprint", () => {
      if (before) [view.page, view.size] = before;
      before = null;
      show();
    });
  }

  function preparePages() {
    const turn = (text, id, page) => plainButton(text, () => turnTo(page()), { id });
    const sizes = make("select", { id: "size", change: (event) => {
      view.size = Number(event.target.value);
      turnTo(0);
    } }, ...PAGE_SIZES.map((size) => make("option",
      { value: size, selected: size === view.size ? "" : null }, String(size))));
    byId("pages").append(
      turn("First", "page-first", () => 0),
      turn("Previous", "page-previous", () => view.page - 1),
      make("span", { id: "page-number" }),
      turn("Next", "page-next", () => view.page + 1),
      turn("Last", "page-last", () => nPages() - 1),
      make("label", { for: "size" }, "Rows of a page", sizes),
    );
    byId("pages").hidden = false;
  }

  function showPages() {
    byId("page-number").textContent = `Page ${number(view.page + 1)} of ${number(nPages())}`;
    const atStart = view.page === 0;
    const atEnd = view.page === nPages() - 1;
    for (const id of ["page-first", "page-previous"]) setDisabled(byId(id), atStart);
    for (const id of ["page-next", "page-last"]) setDisabled(byId(id), atEnd);
  }

  // A disabled button would lose the focus that it has.
  const setDisabled = (button, off) => button.setAttribute("aria-disabled", String(off));

  // --- Search and filters --------------------------------------------------------------

  function delayed(call) {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(call, SHORT_DELAY);
    };
  }

  function searchField() {
    const search = delayed(() => {
      view.text = byId("search").value;
      choose(true);
    });
    return make("label", { for: "search" }, "Search", make("input",
      { id: "search", type: "search", autocomplete: "off", spellcheck: "false", input: search,
        "aria-describedby": "search-hint" }));
  }

  // Texts that occur in a column, as a choice; null if there are none or too many.
  function filterField(name) {
    const column = columns.get(name);
    if (!column || column.kind !== "text") return null;
    if (column.texts.length < 2 || column.texts.length > MOST_CHOICES) return null;
    const id = `filter-${name}`;
    const choice = make("select", { id, change: () => {
      if (choice.value === "") view.filters.delete(name);
      else view.filters.set(name, choice.value === "none" ? null : Number(choice.value));
      choose();
    } }, make("option", { value: "" }, "all"),
    ...column.texts.map((text, value) => make("option", { value },
      name === "system" ? withoutFolder(text) : text)));
    if (column.values.includes(null)) choice.append(make("option", { value: "none" }, "(none)"));
    return make("label", { for: id }, column.title, choice);
  }

  function forget() {
    byId("controls").reset();
    view.text = "";
    view.filters.clear();
    choose();
    byId("search").focus();
  }

  function prepareControls() {
    const controls = byId("controls");
    const hint = "All words have to occur, in any column. Numbers are compared: "
      + "states>1000 seconds<=0.5";
    controls.append(searchField());
    controls.append(...FILTERED.map(filterField).filter(Boolean));
    controls.append(columnsField(), plainButton("Show all", forget, { id: "show-all" }),
      make("p", { class: "hint", id: "search-hint" }, hint));
    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.hidden = false;
  }

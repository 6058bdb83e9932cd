"use strict";
// The table of tasks and the sections about single tasks.  What comes from the run
// is only ever put into text nodes and attributes that are no code.
(() => {
  const SYMBOLS = { holds: "\u2713", violated: "\u2717", unknown: "?" };
  const FILTERED = ["verdict", "reason", "configuration", "emptiness", "system"];
  const MOST_CHOICES = 300;
  const PAGE_SIZES = [50, 100, 500];
  const PLAN = ["configuration", "automaton", "acceptance", "automaton_states", "emptiness",
    "reductions", "seed", "timeout", "cpu_time", "memory_limit_mib", "max_states"];
  const QUESTION = ["system", "formula", "formula_id", "verdict", "reason", "message", "signal"];
  const SHORT_DELAY = 150; // milliseconds after the last key before a search
  const MOST_ALIKE = 50;

  // --- Making elements ---------------------------------------------------------

  const byId = (id) => document.getElementById(id);

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  const make = (tag, attributes = {}, ...children) =>
    fill(document.createElement(tag), attributes, children);

  const draw = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  const plainButton = (text, click, attributes = {}) =>
    make("button", { type: "button", class: "plain", click, ...attributes }, text);

  // --- The data ------------------------------------------------------------------

  async function unpack() {
    const text = atob(byId("data").textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(plain).text());
  }

  let nRows = 0;
  let columns = new Map(); // by name
  let shown = []; // names of the table's columns
  let lassos = null;

  function takeData(data) {
    nRows = data.rows;
    columns = new Map(data.columns.map((column) => [column.name, column]));
    shown = data.shown;
    lassos = data.lassos;
  }

  // As `number` in page_data.py.
  const number = (value) => value.toLocaleString("en-US", Number.isInteger(value)
    ? { maximumFractionDigits: 0 }
    : { minimumFractionDigits: 3, maximumFractionDigits: 3 });

  function textOf(column, row) {
    const value = column.values[row];
    if (value === null) return "";
    if (column.kind === "text") return column.texts[value];
    if (column.kind === "time") {
      return `${new Date(value).toISOString().slice(0, 19).replace("T", " ")} UTC`;
    }
    return number(value);
  }

  const nameOf = (row) => {
    for (const name of ["formula", "formula_id"]) {
      const column = columns.get(name);
      if (column && column.values[row] !== null) return textOf(column, row);
    }
    return "(no formula)";
  };

  // --- Which rows are shown, and in which order -----------------------------------

  const view = { text: "", filters: new Map(), sort: null, descending: false, page: 0,
    size: PAGE_SIZES[1], rows: [] };

  const COMPARISON = /^([a-z_0-9]+)(<=|>=|<|>|=)(-?[0-9.]+(?:e[-+]?[0-9]+)?)$/i;
  const COMPARE = {
    "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b,
    ">=": (a, b) => a >= b, "=": (a, b) => a === b,
  };

  // A word of the search: a test of a row.
  function testOf(word) {
    const found = COMPARISON.exec(word);
    const column = found && columns.get(found[1].toLowerCase());
    if (column && column.kind === "number") {
      const wanted = Number(found[3]);
      const compare = COMPARE[found[2]];
      return (row) => column.values[row] !== null && compare(column.values[row], wanted);
    }
    const hits = [...columns.values()].filter((c) => c.kind === "text").map((c) => {
      c.lower ??= c.texts.map((text) => text.toLowerCase()); // once
      return { values: c.values, has: Uint8Array.from(c.lower, (text) => text.includes(word)) };
    });
    const useful = hits.filter((hit) => hit.has.includes(1));
    return (row) => useful.some((hit) => hit.values[row] !== null && hit.has[hit.values[row]]);
  }

  function chosenRows() {
    const tests = view.text.toLowerCase().split(/\s+/).filter(Boolean).map(testOf);
    for (const [name, wanted] of view.filters) {
      const { values } = columns.get(name);
      tests.push((row) => values[row] === wanted);
    }
    const rows = [];
    for (let row = 0; row < nRows; row++) {
      if (tests.every((test) => test(row))) rows.push(row);
    }
    return rows;
  }

  function sortRows(rows) {
    const sign = view.descending ? -1 : 1;
    const column = columns.get(view.sort);
    if (!column) return view.descending ? rows.reverse() : rows;
    const { values } = column;
    return rows.sort((a, b) => {
      if (values[a] === values[b]) return a - b;
      if (values[a] === null) return 1; // what is missing comes last, either way
      if (values[b] === null) return -1;
      return sign * (values[a] - values[b]);
    });
  }

  function choose() {
    view.rows = sortRows(chosenRows());
    view.page = 0;
    show();
  }

  // --- The table -------------------------------------------------------------------

  const nPages = () => Math.max(1, Math.ceil(view.rows.length / view.size));

  const verdictMark = (verdict) => make("span", { class: `verdict ${verdict}` },
    make("span", { "aria-hidden": "true" }, SYMBOLS[verdict] ?? ""), ` ${verdict}`);

  function cellOf(name, row) {
    const column = columns.get(name);
    const text = textOf(column, row);
    const inner = name === "formula" ? make("a", { href: `#task-${row + 1}` }, nameOf(row))
      : name === "verdict" ? verdictMark(text) : text;
    const kind = column.kind === "number" ? "number" : `of-${name}`;
    return make("td", { role: "cell", class: kind, "data-title": column.title }, inner);
  }

  function lineOf(row) {
    const first = make("td", { role: "cell", class: "number", "data-title": "Task" },
      number(row + 1));
    return make("tr", { role: "row" }, first, ...shown.map((name) => cellOf(name, row)));
  }

  function show() {
    const begin = view.page * view.size;
    const lines = view.rows.slice(begin, begin + view.size).map(lineOf);
    byId("table").tBodies[0].replaceChildren(...lines);
    showOrder();
    showCount(begin, lines.length);
    showPages();
  }

  function showCount(begin, count) {
    const total = view.rows.length;
    const of = total === nRows ? "tasks" : `tasks found, of ${number(nRows)}`;
    byId("found").textContent = total === 0 ? `No task found, of ${number(nRows)}.`
      : `Tasks ${number(begin + 1)} to ${number(begin + count)} of ${number(total)} ${of}.`;
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

  function prepareHeads() {
    for (const head of byId("table").tHead.rows[0].cells) {
      const button = make("button", { type: "button", click: () => sortBy(head.dataset.name) },
        head.textContent, make("span", { class: "arrow", "aria-hidden": "true" }));
      head.replaceChildren(button);
    }
  }

  // --- Pages of the table ------------------------------------------------------------

  function turnTo(page) {
    view.page = Math.min(Math.max(page, 0), nPages() - 1);
    show();
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
      choose();
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
    ...column.texts.map((text, value) => make("option", { value }, text)));
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
    controls.append(plainButton("Show all", forget, { id: "show-all" }),
      make("p", { class: "hint", id: "search-hint" }, hint));
    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.hidden = false;
  }

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
      if (other !== undefined) location.hash = `task-${other + 1}`;
    }, { id, "aria-disabled": String(other === undefined) });
    return make("div", { class: "controls" },
      go("Previous task", "task-previous", neighbour(row, -1)),
      go("Next task", "task-next", neighbour(row, 1)),
      plainButton("Back to the table", () => { location.hash = "tasks"; }, { id: "task-close" }));
  }

  function showTask(row) {
    const section = byId("task");
    const named = [...QUESTION, ...PLAN];
    const statistics = [...columns.keys()].filter((name) => !named.includes(name));
    const title = make("h2", { id: "task-title", tabindex: "-1" }, `Task ${number(row + 1)}`);
    section.replaceChildren(title, ways(row), facts(QUESTION, row),
      make("div", { class: "panels" },
        make("div", {}, make("h3", {}, "Plan"), facts(PLAN, row)),
        make("div", {}, make("h3", {}, "Statistics"), facts(statistics, row))),
      ...[lassoSection(row), alikeSection(row)].filter(Boolean));
    section.setAttribute("aria-labelledby", "task-title");
    section.hidden = false;
    title.focus();
    title.scrollIntoView();
  }

  function closeTask() {
    const section = byId("task");
    if (section.hidden) return;
    section.hidden = true;
    const last = /\d+/.exec(section.dataset.row ?? "");
    const link = last && byId("table").querySelector(`a[href="#task-${last[0]}"]`);
    (link ?? byId("tasks")).focus();
  }

  function follow() {
    const found = /^#task-(\d+)$/.exec(location.hash);
    const row = found ? Number(found[1]) - 1 : -1;
    if (row >= 0 && row < nRows) {
      showTask(row);
      byId("task").dataset.row = row + 1;
    } else closeTask();
  }

  // --- The picture of a lasso ------------------------------------------------------------

  const ROW = 22; // pixels from step to step
  const LANE = 30; // from component to component
  const LETTER = 7.3; // the width of a character
  const STATE_ROW = 38; // the same, with states below the dots
  const LONGEST_STATE = 14; // characters of a state that are shown
  const MOST_LANES = 12; // with more, states are told to those who point at them only
  const LONGEST_NAME = 36; // characters of an action
  const CYCLE_NOTE = "the framed cycle repeats for ever";

  const shortened = (text, most) =>
    text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`;

  const steps = (count) => `${number(count)} step${count === 1 ? "" : "s"}`;

  // The rows of a picture: { name, part, changes, number } or { gap }, where part is
  // [all, components...], and changes are pairs of states, one for each of them.
  function linesOf([gap, ...actions], system, states) {
    let at = 0;
    const lines = actions.map((action) => {
      const part = system ? system.parts[action] ?? [1] : null;
      const changes = states && part.slice(1).map(() => [states[at++], states[at++]]);
      return { name: lassos.actions[action], part, changes };
    });
    if (gap) lines.splice(Math.ceil(actions.length / 2), 0, { gap });
    return lines;
  }

  function pictureOf(row) {
    const index = lassos.of_row[row];
    if (index === null) return null;
    const [prefix, cycle, place, before, after] = lassos.pictures[index];
    const system = place === null ? null : lassos.systems[place];
    const lines = { prefix: linesOf(prefix, system, before), cycle: linesOf(cycle, system, after) };
    const all = [...lines.prefix, ...lines.cycle];
    let number = 1;
    for (const line of all) {
      line.number = number;
      number += line.gap ?? 1;
    }
    const used = new Set(all.flatMap((l) => l.part?.slice(1) ?? []));
    const [lost, named] = lassos.stories[row] ?? [null, []];
    const isNamed = new Set(named.map((action) => lassos.actions[action]));
    for (const line of all) line.named = isNamed.has(line.name);
    return { ...lines, system, lost, lanes: [...used].sort((a, b) => a - b),
      hasStates: before !== undefined };
  }

  const lengthOf = (lines) => lines.reduce((sum, line) => sum + (line.gap ?? 1), 0);

  function componentName(picture, component) {
    return picture.system.components[component] || `component ${component + 1}`;
  }

  const stateName = (picture, state) => state < 0 ? "?" : picture.system.states[state];

  // Who takes a step, with the states before and after it where they are known.
  function takers(picture, { part: [all, ...components], changes }) {
    if (!components.length) return "nobody moves";
    const names = components.map((component, k) => {
      const name = componentName(picture, component);
      if (!changes) return name;
      const [before, after] = changes[k].map((state) => stateName(picture, state));
      return `${name}: ${before} \u2192 ${after}`;
    }).join(", ");
    return all ? names : `one of ${names}`;
  }

  function lassoSection(row) {
    const picture = pictureOf(row);
    if (!picture) return null;
    const [first, again] = [lengthOf(picture.prefix), lengthOf(picture.cycle)];
    const about = first
      ? `A run that violates the formula: ${steps(first)}, then a cycle of ${steps(again)} for ever.`
      : `A run that violates the formula: a cycle of ${steps(again)} for ever.`;
    const lost = picture.lost === null ? null : make("p", { class: "lost-note" },
      `Violated by the first ${steps(picture.lost)}: what follows does not matter.`);
    return make("div", {}, make("h3", {}, "Lasso"), make("p", {}, about), lost, laneNote(picture),
      make("div", { class: "lasso wide", tabindex: "0", role: "region", "aria-label": "Lasso" },
        drawLasso(picture, about)),
      make("details", {}, make("summary", {}, "The steps as a list"), stepList(picture)));
  }

  function laneNote(picture) {
    if (!picture.system) return null;
    const all = picture.system.components.length;
    const still = all - picture.lanes.length;
    const text = "Each line downwards is a component; a dot says that it takes part in the step.";
    const maybe = [...picture.prefix, ...picture.cycle].some((l) => l.part && !l.part[0]);
    const open = maybe ? " Of components with dashed rings, one takes the step." : "";
    const others = still ? ` Without a line: ${number(still)} of ${number(all)} components,`
      + " which take no step that is shown." : "";
    const told = [...picture.prefix, ...picture.cycle].flatMap((l) => l.changes ?? []);
    const unknown = told.flat().some((state) => state < 0)
      ? " A ? is a state that the actions do not tell." : "";
    const named = [...picture.prefix, ...picture.cycle].some((line) => line.named)
      ? " In bold: steps that the formula names." : "";
    return make("p", { class: "hint" }, text + open + others + unknown + named);
  }

  function stepList(picture) {
    const item = (line) => make("li", {}, line.gap ? `(${steps(line.gap)} left out)`
      : line.part ? `${line.name} \u2013 ${takers(picture, line)}` : line.name);
    const list = (title, lines) => lines.length
      ? [make("h4", {}, title), make("ol", { class: "steps" }, ...lines.map(item))] : [];
    return make("div", {}, ...list("Prefix", picture.prefix), ...list("Cycle, for ever", picture.cycle));
  }

  function layoutOf(picture) {
    const lines = [...picture.prefix, ...picture.cycle];
    const names = lines.map((line) => line.gap ? 20 : Math.min(line.name.length, LONGEST_NAME));
    const left = 56 + Math.max(...names) * LETTER;
    const titles = picture.lanes.map((lane) => componentName(picture, lane).length);
    const longest = Math.min(Math.max(0, ...titles), 24) * LETTER;
    const showsStates = picture.hasStates && picture.lanes.length <= MOST_LANES;
    const shown = !showsStates ? [] : lines.flatMap((line) => line.changes ?? []).flat();
    const widest = Math.max(0, ...shown.map((state) => stateName(picture, state).length));
    const lane = Math.max(LANE, Math.min(widest, LONGEST_STATE) * LETTER + 14);
    const row = showsStates ? STATE_ROW : ROW;
    const top = (picture.lanes.length ? 16 + longest * 0.8 : 12) + (showsStates ? 18 : 0);
    const right = left + Math.max(picture.lanes.length, 1) * lane;
    const width = Math.max(right + 48 + longest * 0.6, CYCLE_NOTE.length * LETTER + 12);
    return { lines, left, top, right, width, lane, row, showsStates,
      bar: showsStates ? 12 : row / 2, height: top + lines.length * row + ROW };
  }

  function drawLasso(picture, about) {
    const layout = layoutOf(picture);
    const { lines, top, width, height, row, bar } = layout;
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": about });
    svg.append(...drawCycle(picture, layout), ...drawLanes(picture, layout));
    lines.forEach((line, k) => {
      const y = top + k * row + bar;
      const drawn = line.gap ? drawGap(line, layout, y) : drawStep(picture, line, layout, y);
      const late = picture.lost !== null && line.number > picture.lost;
      const kinds = [line.gap ? "gap" : "step", line.named && "named", late && "irrelevant"];
      svg.append(draw("g", { class: kinds.filter(Boolean).join(" ") }, ...drawn));
    });
    svg.append(...drawLost(picture, layout));
    return svg;
  }

  // The line behind which nothing matters; nothing if it would be inside a gap.
  function drawLost({ lost }, { lines, top, row, right }) {
    const place = lines.findLastIndex((line) => lost !== null && !line.gap && line.number === lost);
    if (place < 0) return [];
    const y = top + (place + 1) * row;
    return [draw("line", { class: "lost", x1: 2, x2: right, y1: y, y2: y })];
  }

  // The frame of the cycle, and the way back from its last step to its first.
  function drawCycle(picture, { lines, top, right, row, bar }) {
    const begin = top + picture.prefix.length * row;
    const end = top + lines.length * row;
    const [first, last, x] = [begin + bar, end - row + bar, right + 6];
    return [
      draw("rect", { class: "cycle", x: 2, y: begin, width: right - 2, height: end - begin, rx: 4 }),
      draw("path", { class: "back", d: `M${x - 4} ${last}h12v${first - last}h-8` }),
      draw("polygon", { class: "head", points: `${x - 4},${first} ${x + 4},${first - 4} ${x + 4},${first + 4}` }),
      draw("text", { class: "soft", x: 6, y: end + 16 }, CYCLE_NOTE),
    ];
  }

  const laneX = ({ left, lane }, place) => left + place * lane + lane / 2;

  function drawLanes(picture, layout) {
    const above = layout.top - (layout.showsStates ? 24 : 6);
    return picture.lanes.flatMap((lane, place) => {
      const x = laneX(layout, place);
      const name = componentName(picture, lane);
      const bottom = layout.top + layout.lines.length * layout.row;
      return [
        draw("line", { class: "line", x1: x, x2: x, y1: layout.top, y2: bottom }),
        draw("text", { x, y: above, transform: `rotate(-55 ${x} ${above})` },
          draw("title", {}, name), shortened(name, 24)),
        ...(layout.showsStates ? [drawFirstState(picture, lane, layout, x)] : []),
      ];
    });
  }

  function drawFirstState(picture, lane, layout, x) {
    const line = layout.lines.find(({ part }) => part?.slice(1).includes(lane));
    return drawState(picture, line.changes[line.part.slice(1).indexOf(lane)][0], x, layout.top - 6);
  }

  function drawState(picture, state, x, y) {
    const name = stateName(picture, state);
    return draw("text", { class: "state", x, y, "text-anchor": "middle" },
      draw("title", {}, name), shortened(name, LONGEST_STATE));
  }

  function drawGap({ gap }, { left }, y) {
    return [draw("text", { class: "soft", x: left - 8, y: y + 4, "text-anchor": "end" },
      `\u22ee ${steps(gap)} left out`)];
  }

  function drawStep(picture, line, layout, y) {
    const { name, part, changes } = line;
    const places = part ? part.slice(1).map((lane) => picture.lanes.indexOf(lane)) : [0];
    const label = draw("text", { class: "action", x: layout.left - 8, y: y + 4, "text-anchor": "end" },
      draw("title", {}, part ? `${name}: ${takers(picture, line)}` : name),
      shortened(name, LONGEST_NAME));
    const row = draw("line", { class: "row", x1: layout.left, x2: layout.right, y1: y, y2: y });
    const certain = !part || part[0];
    const dots = places.map((place, k) => draw("circle",
      { class: certain ? "dot" : "dot maybe", cx: laneX(layout, place), cy: y, r: 5 },
      ...(changes ? [draw("title", {}, told(picture, part[k + 1], changes[k]))] : [])));
    const states = layout.showsStates
      ? places.map((place, k) => drawState(picture, changes[k][1], laneX(layout, place), y + 19)) : [];
    return [label, row, ...(certain && places.length > 1 ? [joint(layout, places, y)] : []),
      ...dots, ...states];
  }

  const told = (picture, component, change) => `${componentName(picture, component)}: `
    + change.map((state) => stateName(picture, state)).join(" \u2192 ");

  const joint = (layout, places, y) => draw("line", { class: "joint", y1: y, y2: y,
    x1: laneX(layout, places[0]), x2: laneX(layout, places.at(-1)) });

  // --- Beginning -------------------------------------------------------------------------

  async function start() {
    takeData(await unpack());
    prepareHeads();
    prepareControls();
    preparePages();
    choose();
    window.addEventListener("hashchange", follow);
    follow();
    document.documentElement.dataset.ready = "yes";
  }

  start().catch((error) => {
    byId("found").textContent += ` (The script of this page failed: ${error.message})`;
    throw error;
  });
})();

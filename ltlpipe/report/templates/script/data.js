  // What comes from the run is only ever put into text nodes and attributes that are
  // no code.

  const SYMBOLS = { holds: "\u2713", violated: "\u2717", unknown: "?" };
  const FILTERED = ["verdict", "reason", "configuration", "emptiness", "system"];
  const MOST_CHOICES = 300;
  const PAGE_SIZES = [50, 100, 500];
  const PLAN = ["configuration", "automaton", "acceptance", "automaton_states", "emptiness",
    "reductions", "seed", "timeout", "cpu_time", "memory_limit_mib", "max_states"];
  const QUESTION = ["system", "formula", "formula_id", "verdict", "reason", "message", "warnings", "signal"];
  const MOST_PRINTED = 2000; // rows on paper
  const SHORT_DELAY = 150; // milliseconds after the last key before a search
  const MOST_ALIKE = 50;
  const WIDE = matchMedia("(min-width: 64rem)"); // has room for a task beside the table; as in the style

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
  let usual = []; // names of the table's columns, unless others are chosen
  let lassos = null;
  let folder = ""; // of all systems: tables leave it out of their names

  function takeData(data) {
    nRows = data.rows;
    columns = new Map(data.columns.map((column) => [column.name, column]));
    usual = data.shown;
    view.columns = usual;
    lassos = data.lassos;
    folder = data.folder;
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

  // As `without_folder` in page_data.py.
  const withoutFolder = (text) => text.split(" ").map(
    (name) => name.startsWith(folder) ? name.slice(folder.length) : name).join(" ");

  const nameOf = (row) => {
    for (const name of ["formula", "formula_id"]) {
      const column = columns.get(name);
      if (column && column.values[row] !== null) return textOf(column, row);
    }
    return "(no formula)";
  };

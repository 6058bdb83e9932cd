  // --- Which rows are shown, and in which order -----------------------------------

  // A copy of the address gives the same view: address.js.
  const view = { text: "", filters: new Map(), sort: null, descending: false, page: 0,
    size: PAGE_SIZES[1], task: null, rows: [], columns: [] };

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

  const arrange = () => { view.rows = sortRows(chosenRows()); };

  function choose(typing = false) {
    arrange();
    view.page = 0;
    show();
    remember(typing);
  }

  // What is asked for, in words: paper has no controls.
  function asked() {
    const said = view.text.trim() ? [`Search: ${view.text.trim()}`] : [];
    for (const [name, value] of view.filters) {
      const column = columns.get(name);
      said.push(`${column.title}: ${value === null ? "(none)" : column.texts[value]}`);
    }
    if (view.sort) {
      const order = view.descending ? "descending" : "ascending";
      said.push(`sorted by ${columns.get(view.sort).title}, ${order}`);
    }
    return said.join("; ");
  }

  // --- The address -----------------------------------------------------------------------
  // What is behind its # says what is shown, such as
  // "#task-5&verdict=violated&q=lock&sort=-states&page=2".

  function addressOf() {
    const said = new URLSearchParams();
    if (view.text) said.set("q", view.text);
    for (const [name, value] of view.filters) {
      if (value === null) said.append("none", name);
      else said.set(name, columns.get(name).texts[value]);
    }
    const order = `${view.descending ? "-" : ""}${view.sort ?? "task"}`;
    if (order !== "task") said.set("sort", order);
    if (view.page) said.set("page", view.page + 1);
    if (view.size !== PAGE_SIZES[1]) said.set("size", view.size);
    if (view.columns.join() !== usual.join()) said.set("columns", view.columns.join());
    const task = view.task === null ? "" : `task-${view.task + 1}`;
    return `#${[task, said.toString()].filter(Boolean).join("&") || "tasks"}`;
  }

  let typed = false; // the last entry of the history is a word that was being typed

  // A new entry of the history; one for all letters of a search.
  function remember(typing = false) {
    const address = addressOf();
    if (address !== (location.hash || "#tasks")) {
      history[typing && typed ? "replaceState" : "pushState"](null, "", address);
    }
    typed = typing;
  }

  // What an address says that this page does not know is left out.
  function readAddress() {
    const said = new URLSearchParams(location.hash.slice(1));
    const filters = new Map();
    for (const name of FILTERED) {
      const value = columns.get(name)?.texts.indexOf(said.get(name)) ?? -1;
      if (value >= 0) filters.set(name, value);
      else if (columns.has(name) && said.getAll("none").includes(name)) filters.set(name, null);
    }
    const [, minus, sort] = /^(-?)(.*)$/s.exec(said.get("sort") ?? "");
    const size = Number(said.get("size"));
    const task = [...said.keys()].map((key) => /^task-(\d+)$/.exec(key)).find(Boolean);
    const row = task ? Number(task[1]) - 1 : -1;
    const chosen = said.get("columns")?.split(",").filter((name) => columns.has(name));
    return { columns: chosen?.length ? chosen : usual, text: said.get("q") ?? "", filters, page: Number(said.get("page") ?? 1) - 1 || 0, row,
      sort: columns.has(sort) ? sort : null, descending: minus === "-",
      size: PAGE_SIZES.includes(size) ? size : PAGE_SIZES[1] };
  }

  function recall() {
    const { row, ...rest } = readAddress();
    Object.assign(view, rest);
    fillControls();
    arrange();
    view.page = Math.floor(within(view.page));
    typed = false;
    if (row >= 0 && row < nRows) {
      const place = view.rows.indexOf(row);
      if (place >= 0) view.page = Math.floor(place / view.size);
      view.task = row;
      showTask(row);
      show();
      lookAtTask();
    } else {
      show();
      if (view.task !== null) hideTask();
    }
  }

  function fillControls() {
    byId("search").value = view.text;
    byId("size").value = view.size;
    for (const box of byId("columns").querySelectorAll("input")) {
      box.checked = view.columns.includes(box.value);
    }
    for (const name of FILTERED) {
      const choice = byId(`filter-${name}`);
      const value = view.filters.get(name);
      if (choice) choice.value = value === undefined ? "" : value ?? "none";
    }
  }

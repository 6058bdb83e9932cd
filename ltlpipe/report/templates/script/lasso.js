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
    const about = !again
      ? `A finite run of ${steps(first)}: every continuation violates the formula.`
      : first ? `A run that violates the formula: ${steps(first)}, then a cycle of ${steps(again)} for ever.`
      : `A run that violates the formula: a cycle of ${steps(again)} for ever.`;
    const lost = picture.lost === null ? null : make("p", { class: "lost-note" },
      `Violated by the first ${steps(picture.lost)}: what follows does not matter.`);
    return make("div", {}, make("h3", {}, again ? "Lasso" : "Finite run"), make("p", {}, about), lost, laneNote(picture),
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
    const left = 56 + Math.max(0, ...names) * LETTER;
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
    if (!picture.cycle.length) return [];
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

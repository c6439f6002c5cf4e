"use strict";
// Draws what the page's data says: flame graph, time line, counters, table of functions, histograms.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const report = document.getElementById("report");
  const ROW = 18;
  const number = (value) => Math.round(value).toLocaleString("en");
  const element = (name, attributes = {}, ...content) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...content);
    return made;
  };
  const section = (title) => report.appendChild(element("section", {}, element("h2", { textContent: title })));
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A tree of {name, value, own, children}, heaviest children first.
  function treeOf(hart) {
    const nodes = hart.nodes.map(([parent, label, own]) => ({ parent, label, own, value: own, children: [] }));
    nodes.forEach((node, index) => {
      if (index === 0) node.name = `hart ${hart.hart}`;
      else if (node.label < 0) node.name = "(smaller ones)";
      else node.name = node.parent === 0 ? data.threads[node.label] : data.functions[node.label];
      node.source = index > 0 && node.label >= 0 && node.parent !== 0 ? data.sources[node.label] : "";
    });
    const depthFirst = nodes.map((_, index) => index).sort((one, other) => depth(other) - depth(one));
    function depth(index) {
      const node = nodes[index];
      if (node.depth === undefined) node.depth = index === 0 ? 0 : depth(node.parent) + 1;
      return node.depth;
    }
    for (const index of depthFirst) {
      if (index === 0) continue;
      nodes[nodes[index].parent].value += nodes[index].value;
      nodes[nodes[index].parent].children.push(nodes[index]);
    }
    nodes.forEach((node) => node.children.sort((one, other) => other.value - one.value));
    return nodes[0];
  }

  // The stacks of all harts in this run and in another one; widths are the cycles of one of the two.
  function treeOfDifference(widths) {
    const { names, nodes } = data.comparison;
    const made = nodes.map(([parent, name, here, there]) => {
      const own = widths === "there" ? there : here;
      return { parent, name: names[name], own, value: own, here, there, children: [] };
    });
    for (let index = made.length - 1; index > 0; index--) {
      const node = made[index], above = made[node.parent];
      above.value += node.value;
      above.here += node.here;
      above.there += node.there;
      above.children.push(node);
    }
    made.forEach((node) => node.children.sort((one, other) => other.value - one.value));
    return made[0];
  }

  // The same cycles by function and its callers: who is it that calls what takes long?
  function callersOf(root) {
    const inverted = { name: root.name, value: root.value, own: 0, children: [], by: new Map() };
    const walk = (node, path) => {
      const whole = [node.name, ...path];
      if (node.own) {
        let at = inverted;
        for (const name of whole) {
          if (!at.by.has(name)) {
            const child = { name, value: 0, own: 0, children: [], by: new Map() };
            at.by.set(name, child);
            at.children.push(child);
          }
          at = at.by.get(name);
          at.value += node.own;
        }
        at.own += node.own;
      }
      node.children.forEach((child) => walk(child, whole));
    };
    walk(root, []);
    const sort = (node) => {
      node.children.sort((one, other) => other.value - one.value);
      node.children.forEach(sort);
    };
    sort(inverted);
    return inverted;
  }

  function colour(name, faint) {
    let hash = 7;
    for (let index = 0; index < name.length; index++) hash = (hash * 31 + name.charCodeAt(index)) % 997;
    return `hsl(${10 + hash % 45}, ${faint ? 12 : 70}%, ${faint ? 78 : 62 + hash % 10}%)`;
  }

  // Red where this run has more cycles than the other one, blue where it has less.
  function shade(node, faint) {
    if (node.here === undefined) return colour(node.name, faint);
    const change = (node.here - node.there) / Math.max(node.here, node.there, 1);
    return `hsl(${change > 0 ? 8 : 215}, ${faint ? 15 : 80}%, ${Math.round(92 - 38 * Math.abs(change))}%)`;
  }

  const signed = (value) => `${value > 0 ? "+" : ""}${number(value)}`;

  function canvas(parent, height) {
    const made = parent.appendChild(element("canvas"));
    const width = Math.max(made.clientWidth, 600);
    const scale = window.devicePixelRatio || 1;
    made.width = width * scale;
    made.height = height * scale;
    made.style.height = `${height}px`;
    const context = made.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    return { made, context, width, height };
  }

  // What is drawn, where, for tests and for the pointer: window.rackwright says it.
  const state = { shown: [], matched: 0, search: "", zoomed: null };
  window.rackwright = { data, state };

  function flameGraph() {
    const place = section("Call stacks");
    const hartChoice = element("select");
    data.harts.forEach((hart, index) => hartChoice.append(element("option", { value: index, textContent: `hart ${hart.hart}` })));
    const kind = element("select", { id: "kind" });
    [["flame", "flame graph"], ["icicle", "icicle"], ["callers", "callers (inverted)"]].forEach(([value, textContent]) =>
      kind.append(element("option", { value, textContent })));
    if (data.comparison) {
      [["here", "difference, widths of this run"], ["there", "difference, widths of the other run"]].forEach(([value, textContent]) =>
        kind.append(element("option", { value, textContent })));
      place.append(element("p", { className: "hint", textContent: `The other run: ${data.comparison.there}. Red: this run has more cycles there; blue: it has less.` }));
    }
    const search = element("input", { type: "search", placeholder: "search functions", id: "search" });
    const reset = element("button", { textContent: "whole", id: "whole" });
    const hint = element("div", { className: "hint", id: "hint" });
    place.append(element("div", { className: "bar" }, hartChoice, kind, search, reset));
    const drawing = place.appendChild(element("div", { id: "flame" }));
    place.append(hint);
    let root, top, path = [];
    const describe = (node) => node.here === undefined
      ? `${node.name}: ${number(node.value)} cycles (${(100 * node.value / root.value).toFixed(2)} %), ${number(node.own)} of its own${node.source ? `; ${node.source}` : ""}`
      : `${node.name}: ${number(node.here)} cycles here, ${number(node.there)} there: ${signed(node.here - node.there)}`;

    function layout() {
      const boxes = [];
      path.forEach((node, row) => boxes.push({ node, row, begin: 0, end: 1 }));
      const visit = (node, row, begin, width) => {
        boxes.push({ node, row, begin, end: begin + width });
        let at = begin;
        for (const child of node.children) {
          const share = width * child.value / node.value;
          if (share > 0.0004) visit(child, row + 1, at, share);
          at += share;
        }
      };
      visit(top, path.length, 0, 1);
      return boxes;
    }

    function draw() {
      drawing.replaceChildren();
      const boxes = layout();
      const rows = 1 + boxes.reduce((most, box) => Math.max(most, box.row), 0);
      const { made, context, width } = canvas(drawing, rows * ROW + 2);
      const wanted = search.value.toLowerCase();
      const upward = !["icicle", "callers"].includes(kind.value);
      state.matched = 0;
      state.search = wanted;
      state.zoomed = top.name;
      state.shown = boxes.map((box) => {
        const x = box.begin * width, y = (upward ? rows - 1 - box.row : box.row) * ROW + 1;
        const wide = Math.max((box.end - box.begin) * width - 0.5, 0.5);
        const hit = wanted && box.node.name.toLowerCase().includes(wanted);
        context.fillStyle = hit ? "#b04ad8" : shade(box.node, wanted || box.row < path.length);
        context.fillRect(x, y, wide, ROW - 1);
        if (wide > 28) {
          context.fillStyle = hit ? "#ffffff" : "#1c2733";
          const letters = Math.floor(wide / 6.6);
          const name = box.node.name;
          context.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, x + 3, y + ROW / 2);
        }
        return { x, y, width: wide, name: box.node.name, cycles: box.node.value, node: box.node, row: box.row, hit: !!hit };
      });
      if (wanted) {
        // Nested hits count once.
        const count = (node) => node.name.toLowerCase().includes(wanted) ? node.value : node.children.reduce((sum, child) => sum + count(child), 0);
        state.matched = count(top);
        hint.textContent = `${search.value}: ${number(state.matched)} cycles, ${(100 * state.matched / top.value).toFixed(2)} % of ${top.name}`;
      }
      const find = (event) => {
        const area = made.getBoundingClientRect();
        const x = event.clientX - area.left, y = event.clientY - area.top;
        return state.shown.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + ROW);
      };
      made.onmousemove = (event) => {
        const box = find(event);
        if (box) hint.textContent = describe(box.node);
      };
      made.onclick = (event) => {
        const box = find(event);
        if (box) zoom(box.node);
      };
    }

    function zoom(node) {
      const trail = [];
      const seek = (at) => at === node || at.children.some((child) => seek(child) && trail.unshift(child) > 0);
      seek(root);
      path = [root, ...trail].slice(0, -1);
      if (node === root) path = [];
      top = node;
      draw();
    }

    function begin() {
      const differs = ["here", "there"].includes(kind.value);
      hartChoice.disabled = differs;
      root = differs ? treeOfDifference(kind.value) : treeOf(data.harts[hartChoice.value]);
      if (kind.value === "callers") root = callersOf(root);
      top = root;
      path = [];
      draw();
    }
    hartChoice.onchange = kind.onchange = begin;
    search.oninput = draw;
    reset.onclick = () => { search.value = ""; hint.textContent = ""; zoom(root); };
    if (data.comparison) kind.value = "here";
    state.zoom = (name) => { const box = state.shown.find((each) => each.name === name); if (box) zoom(box.node); };
    begin();
  }

  // The cycles that time line and counters show, which zoom together.
  const begins = data.harts.flatMap((hart) => hart.windows.map(([begin]) => begin));
  const ends = data.harts.flatMap((hart) => hart.windows.map(([, end]) => end));
  const first = begins.length ? Math.min(...begins) : 0, last = Math.max(first + 1, ...ends);
  const view = { from: first, to: last, drawings: [] };
  state.view = view;
  function show(from, to) {
    [view.from, view.to] = [from, to];
    view.drawings.forEach((draw) => draw());
  }
  function zoomable(made, width) {
    let pressed = null;
    const cycleAt = (event) => view.from + (event.clientX - made.getBoundingClientRect().left) / width * (view.to - view.from);
    made.onmousedown = (event) => { pressed = cycleAt(event); };
    made.onmouseup = (event) => {
      const released = cycleAt(event);
      const wide = pressed !== null && Math.abs(released - pressed) > (view.to - view.from) / 200;
      if (wide) show(Math.min(pressed, released), Math.max(pressed, released));
      pressed = null;
    };
    made.ondblclick = () => show(first, last);
    return cycleAt;
  }

  function timeLine() {
    const place = section("Time line");
    const hint = element("div", { className: "hint" });
    const drawing = place.appendChild(element("div"));
    place.append(hint, element("p", { className: "hint", textContent: "The longest events of each kind. Drag to zoom, double-click for the whole run." }));
    const deepest = (events) => events.reduce((most, [depth]) => Math.max(most, depth), 0);
    // A lane has events: depth, name, begin, end.
    const shown = (title, lane) => ({ title, rows: 1, events: lane.events.map(([name, begin, end]) => [0, lane.names[name], begin, end]) });
    const happenings = data.harts.flatMap((hart) => hart.lanes.map((lane) => shown(`hart ${hart.hart}: ${lane.title}`, lane)));
    // Reports of earlier versions have none.
    const fabric = (data.fabric || []).map((lane) => shown(lane.title, lane));
    const calls = [];
    data.harts.forEach((hart) => data.threads.forEach((title, thread) => {
      const events = hart.slices.filter((call) => call[0] === thread).map(([, depth, call, begin, end]) => [depth, data.functions[call], begin, end]);
      if (events.length) calls.push({ title: `hart ${hart.hart}: calls of ${title}`, events, rows: Math.min(40, 1 + deepest(events)) });
    }));
    calls.sort((one, other) => other.events.length - one.events.length);
    const lanes = [...happenings, ...fabric, ...calls.slice(0, 24)];
    state.lanes = lanes;
    function draw() {
      const { from, to } = view;
      drawing.replaceChildren();
      const rows = lanes.reduce((sum, lane) => sum + lane.rows * 0.6 + 1, 0);
      const { made, context, width } = canvas(drawing, rows * ROW + 4);
      const at = (cycle) => (cycle - from) / (to - from) * width;
      const boxes = [];
      let y = 0;
      for (const lane of lanes) {
        context.fillStyle = ink("--soft");
        context.fillText(lane.title, 2, y + ROW / 2);
        y += ROW;
        for (const [depth, name, begin, end] of lane.events) {
          if (end < from || begin > to || depth >= lane.rows) continue;
          const x = Math.max(at(begin), 0), wide = Math.max(Math.min(at(end), width) - x, 0.4);
          const row = y + depth * ROW * 0.6;
          context.fillStyle = colour(name, false);
          context.fillRect(x, row, wide, ROW * 0.6 - 1);
          if (wide > 2) boxes.push({ x, y: row, wide, text: `${name}: cycles ${number(begin)} to ${number(end)}, ${number(end - begin)} in all` });
        }
        y += lane.rows * ROW * 0.6;
      }
      const cycleAt = zoomable(made, width);
      made.onmousemove = (event) => {
        const area = made.getBoundingClientRect();
        const mx = event.clientX - area.left, my = event.clientY - area.top;
        const box = boxes.findLast((each) => mx >= each.x && mx < each.x + each.wide && my >= each.y && my < each.y + ROW * 0.6);
        hint.textContent = box ? box.text : `cycle ${number(cycleAt(event))}`;
      };
    }
    view.drawings.push(draw);
    draw();
  }

  function counters() {
    if (!data.harts.some((hart) => hart.samples.length > 1)) return;
    const place = section("Counters over time");
    const choice = element("select");
    data.counters.forEach((name, index) => choice.append(element("option", { value: index, textContent: name })));
    place.append(element("div", { className: "bar" }, choice));
    const drawing = place.appendChild(element("div"));
    const hint = place.appendChild(element("div", { className: "hint" }));
    function draw() {
      drawing.replaceChildren();
      const { made, context, width, height } = canvas(drawing, 160);
      const column = 1 + Number(choice.value);
      const curves = data.harts.map((hart) => hart.samples.slice(1).map((sample, index) => {
        const before = hart.samples[index];
        return [before[0], sample[0], (sample[column] - before[column]) / Math.max(1, sample[0] - before[0])];
      }).filter(([begin, end]) => end >= view.from && begin <= view.to));
      const most = curves.flat().reduce((top, [, , rate]) => Math.max(top, rate), 1e-9);
      const across = (cycle) => (cycle - view.from) / (view.to - view.from) * width;
      curves.forEach((curve, index) => {
        context.strokeStyle = `hsl(${210 + 70 * index}, 60%, 50%)`;
        context.beginPath();
        curve.forEach(([begin, end, rate]) => {
          const up = height - 4 - rate / most * (height - 24);
          context.lineTo(across(begin), up);
          context.lineTo(across(end), up);
        });
        context.stroke();
      });
      context.fillStyle = ink("--soft");
      context.fillText(`at most ${most.toPrecision(3)} a cycle`, 4, 10);
      const cycleAt = zoomable(made, width);
      made.onmousemove = (event) => {
        const cycle = cycleAt(event);
        const rates = curves.map((curve, index) => {
          const found = curve.find(([begin, end]) => begin <= cycle && cycle < end);
          return found ? `hart ${data.harts[index].hart}: ${found[2].toPrecision(3)}` : "";
        });
        hint.textContent = `cycle ${number(cycle)}  ${rates.join("  ")}`;
      };
      state.counter = { name: data.counters[choice.value], most };
    }
    choice.onchange = draw;
    view.drawings.push(draw);
    draw();
  }

  // Cycles per instruction of the functions with most cycles, by what they went to.
  function cycleStacks() {
    if (!data.cycle_stacks.data.length) return;
    const place = section("Cycles per instruction, by reason");
    const reasons = data.cycle_stacks.columns.slice(4);
    const shade = (index) => `hsl(${(index * 47 + 130) % 360}, ${index ? 55 : 35}%, 55%)`;
    const key = element("p", { className: "hint" });
    reasons.forEach((reason, index) => {
      const mark = element("span", { textContent: "\u25a0 " });
      mark.style.color = shade(index);
      key.append(mark, `${reason.replace("stall.", "").replaceAll("_", " ")}  `);
    });
    place.append(key);
    const rows = data.cycle_stacks.data;
    const most = Math.max(...rows.map((row) => row[3]));
    const { made, context, width } = canvas(place, rows.length * ROW + 4);
    const hint = place.appendChild(element("div", { className: "hint" }));
    const left = Math.min(260, width / 3);
    rows.forEach((row, line) => {
      const y = line * ROW;
      context.fillStyle = ink("--soft");
      context.fillText(`${row[3].toFixed(2)}  ${row[1]}`.slice(0, 40), 2, y + ROW / 2);
      let x = left;
      row.slice(4).forEach((part, index) => {
        const wide = part / most * (width - left);
        context.fillStyle = shade(index);
        context.fillRect(x, y + 1, wide, ROW - 3);
        x += wide;
      });
    });
    made.onmousemove = (event) => {
      const row = rows[Math.floor((event.clientY - made.getBoundingClientRect().top) / ROW)];
      const parts = row ? reasons.map((reason, index) => [reason, row[4 + index]]).filter(([, part]) => part >= 0.005) : [];
      hint.textContent = row ? `${row[1]}: ${parts.map(([reason, part]) => `${reason} ${part.toFixed(2)}`).join(", ")}` : "";
    };
    state.cycleStacks = rows;
  }

  function durations(place, index) {
    place.replaceChildren(element("h2", { textContent: `How long ${data.functions[index]} took` }));
    if (data.sources[index]) place.append(element("p", { className: "hint", textContent: data.sources[index] }));
    const steps = data.durations[index];
    if (!steps.length) return;
    const total = steps.reduce((sum, [, calls]) => sum + calls, 0);
    const { context, width, height } = canvas(place, 180);
    const low = Math.log(steps[0][0] + 1), high = Math.max(Math.log(steps[steps.length - 1][0] + 2), low + 0.1);
    const bars = new Array(80).fill(0);
    steps.forEach(([cycles, calls]) => { bars[Math.min(79, Math.floor((Math.log(cycles + 1) - low) / (high - low) * 80))] += calls; });
    const most = Math.max(...bars);
    context.fillStyle = "#d9722e";
    bars.forEach((calls, bar) => context.fillRect(bar * width / 80, height - 20 - calls / most * (height - 40), width / 80 - 1, calls / most * (height - 40)));
    context.fillStyle = ink("--soft");
    context.fillText(`${number(steps[0][0])} cycles`, 2, height - 8);
    const last = `${number(steps[steps.length - 1][0])} cycles (logarithmic)`;
    context.fillText(last, width - context.measureText(last).width - 2, height - 8);
    context.fillText(`${number(total)} calls, at most ${number(most)} in a bar`, 2, 10);
    const list = element("ol");
    data.slowest[index].forEach(([cycles, begin]) => list.append(element("li", { textContent: `${number(cycles)} cycles, from cycle ${number(begin)} on` })));
    place.append(element("p", { textContent: "The slowest calls:" }), list);
    state.histogram = { index, total };
  }

  function table() {
    const place = section("Functions");
    const detail = element("div", { id: "durations" });
    const columns = data.calls.columns.filter((name) => !["symbol", "file", "line"].includes(name) && !name.startsWith("stall."));
    const at = Object.fromEntries(data.calls.columns.map((name, index) => [name, index]));
    const body = element("tbody");
    let order = "exclusive_cycles", falling = true;
    const rows = data.calls.data.slice();
    function fill() {
      rows.sort((one, other) => {
        const first = one[at[order]], second = other[at[order]];
        const compared = typeof first === "number" ? first - second : String(first).localeCompare(String(second));
        return falling ? -compared : compared;
      });
      body.replaceChildren(...rows.slice(0, 1000).map((row) => {
        const line = element("tr");
        columns.forEach((name) => {
          const value = row[at[name]];
          line.append(element("td", typeof value === "number" ? { className: "right", textContent: number(value) } : { textContent: value }));
        });
        line.onclick = () => {
          const index = data.functions.findIndex((title, each) => data.modules[each] === row[at.module] && (title === row[at.function] || title === `${row[at.module]}:${row[at.function]}`));
          durations(detail, index);
          detail.scrollIntoView({ behavior: "smooth", block: "nearest" });
        };
        return line;
      }));
    }
    const head = element("tr");
    columns.forEach((name) => {
      const title = element("th", { textContent: name.replaceAll("_", " ") });
      title.onclick = () => { falling = order === name ? !falling : true; order = name; fill(); };
      head.append(title);
    });
    place.append(element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), body)));
    report.append(detail);
    fill();
  }

  function differences() {
    if (!data.comparison) return;
    const place = section("Functions by difference, in cycles");
    place.append(element("p", { className: "hint", textContent: `Here: ${data.comparison.here}. There: ${data.comparison.there}.` }));
    const { columns, data: rows } = data.comparison.functions;
    const cell = (value, index) => index === 0
      ? element("td", { textContent: value })
      : element("td", { className: "right", textContent: index % 3 === 1 ? signed(value) : number(value) });
    const head = element("tr", {}, ...columns.map((textContent) => element("th", { textContent })));
    const body = element("tbody", { id: "differences" }, ...rows.map((row) => element("tr", {}, ...row.map(cell))));
    place.append(element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), body)));
  }

  const record = data.record;
  const list = element("dl");
  [["core", record.cpu], ["cycles", record.cycles.map(number).join(", ")], ["instructions", number(record.instructions)],
    ["exit status", record.exit_code], ["digest", record.digest], ["without a name", `${(100 * record.unnamed_share).toFixed(3)} % of cycles`]]
    .forEach(([term, value]) => list.append(element("dt", { textContent: term }), element("dd", { textContent: value })));
  report.append(list);
  flameGraph();
  timeLine();
  counters();
  cycleStacks();
  differences();
  table();
})();

"use strict";
// Data of objects gets into the page as text only (textContent), never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const pageRows = 100;

// The cluster: a square for each node.
const maps = [{canvas: at("before"), shares: data.before}, {canvas: at("after"), shares: data.after}];
const dark = matchMedia("(prefers-color-scheme: dark)");
const none = -1, absent = -2; // a node without the resource; one that is not there yet
let chosen = -1, cell = 1, height = 1, spots = [], labels = [], printing = false;

// layout finds a spot for each square, in rows of a width, and labels for the shapes. Each shape
// begins in a row of its own, below its name; very many begin behind a bar.
const mostLabels = 60, labelHeight = 18;
function layout(width) {
  const n = data.nodes.length;
  cell = Math.max(6, Math.min(28, Math.floor(Math.sqrt(width * width * .6 / Math.max(n, 1)))));
  const named = new Set(data.shape).size <= mostLabels, count = new Map();
  for (const s of data.shape) count.set(s, (count.get(s) ?? 0) + 1);
  let x = 0, y = 0;
  spots = [];
  labels = [];
  for (let i = 0; i < n; i++) {
    const begins = i === 0 || data.shape[i] !== data.shape[i - 1];
    if (begins && named) {
      if (i > 0) y += cell;
      labels.push({text: data.shapes[data.shape[i]] + ": " + count.get(data.shape[i]), x: 0, y: y + labelHeight - 5});
      x = 0;
      y += labelHeight;
    } else if (i > 0 && x + 2 * cell > width) {
      x = 0;
      y += cell;
    } else if (i > 0) x += cell;
    if (begins && !named) labels.push({x, y});
    spots.push({x, y});
  }
  height = y + cell;
}

function palette() {
  return dark.matches && !printing
    ? {from: [34, 46, 58], to: [125, 211, 252], over: "#fb7185", line: "#4b5866", mark: "#ffffff"}
    : {from: [226, 236, 245], to: [8, 60, 120], over: "#d6336c", line: "#b4bec8", mark: "#000000"};
}

function colour(p, share) {
  if (share > 100) return p.over;
  return "rgb(" + p.from.map((x, i) => Math.round(x + (p.to[i] - x) * share / 100)).join(",") + ")";
}

function square(context, p, share, x, y, size) {
  if (share === absent) return;
  if (share === none) {
    context.strokeStyle = p.line;
    context.strokeRect(x + .5, y + .5, size - 1, size - 1);
    return;
  }
  context.fillStyle = colour(p, share);
  context.fillRect(x, y, size, size);
}

function draw() {
  const p = palette(), resource = at("resource").selectedIndex, n = data.nodes.length;
  for (const map of maps) {
    const width = Math.max(map.canvas.clientWidth, 100), scale = devicePixelRatio || 1;
    layout(width);
    map.canvas.style.height = height + "px";
    map.canvas.width = Math.round(width * scale);
    map.canvas.height = Math.round(height * scale);
    const context = map.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const shares = map.shares[resource] || [];
    for (let i = 0; i < n; i++) square(context, p, shares[i], spots[i].x, spots[i].y, cell - 1);
    context.fillStyle = p.mark;
    context.font = "13px system-ui, sans-serif";
    for (const label of labels) {
      if (label.text === undefined) context.fillRect(label.x - 1, label.y, 2, cell - 1);
      else context.fillText(label.text, label.x, label.y, width);
    }
    if (chosen >= 0) {
      context.strokeStyle = p.mark;
      context.lineWidth = 2;
      context.strokeRect(spots[chosen].x, spots[chosen].y, cell - 1, cell - 1);
    }
  }
  legend(p);
}

function legend(p) {
  const parts = [0, 25, 50, 75, 100].map((share) => [colour(p, share), share + " %"]);
  parts.push([p.over, "over"], ["transparent", "has none"]);
  at("legend").replaceChildren(...parts.map(([fill, text]) => {
    const item = document.createElement("span"), box = document.createElement("i");
    box.style.background = fill;
    item.append(box, text);
    return item;
  }));
}

function share(x) {
  return x === absent ? "not there" : x === none ? "none" : x + " %";
}

function choose(i) {
  chosen = Math.max(0, Math.min(data.nodes.length - 1, i));
  const resource = at("resource").selectedIndex;
  at("node").textContent = data.nodes.length === 0 ? "" :
    data.nodes[chosen] + " (" + data.shapes[data.shape[chosen]] + "): " + data.resources[resource] + " " +
    share(data.before[resource][chosen]) + " → " + share(data.after[resource][chosen]) +
    ", of " + data.amounts[data.has[chosen]] + ". Pods of the queue that go to it: " + data.gets[chosen] + ".";
  draw();
}

// beyond returns the square in the row below or above that is nearest to a square.
function beyond(i, step) {
  let k = i + step;
  while (spots[k]?.y === spots[i].y) k += step;
  if (!spots[k]) return i;
  let best = k;
  for (const y = spots[k].y; spots[k]?.y === y; k += step) {
    if (Math.abs(spots[k].x - spots[i].x) < Math.abs(spots[best].x - spots[i].x)) best = k;
  }
  return best;
}

for (const map of maps) {
  map.canvas.addEventListener("click", (event) => {
    const i = spots.findIndex((s) => event.offsetX >= s.x && event.offsetX < s.x + cell && event.offsetY >= s.y && event.offsetY < s.y + cell);
    if (i >= 0) choose(i);
  });
  map.canvas.addEventListener("keydown", (event) => {
    const steps = {ArrowRight: (i) => i + 1, ArrowLeft: (i) => i - 1, ArrowDown: (i) => beyond(i, 1), ArrowUp: (i) => beyond(i, -1)};
    const ends = {Home: 0, End: data.nodes.length - 1};
    if (event.key in steps || event.key in ends) {
      choose(ends[event.key] ?? (chosen < 0 ? 0 : steps[event.key](chosen)));
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) {
      at("show").value = "placed";
      at("filter").value = data.nodes[chosen];
      filter();
      at("filter").focus();
    }
  });
}

for (const name of data.resources) at("resource").append(new Option(name));
at("resource").addEventListener("change", () => chosen < 0 ? draw() : choose(chosen));
dark.addEventListener("change", draw);
addEventListener("resize", draw);
addEventListener("beforeprint", () => { printing = true; draw(); });
addEventListener("afterprint", () => { printing = false; draw(); });

// The queue, of which a page of rows is there at a time.
const place = (i) => data.where[i] >= 0 ? data.nodes[data.where[i]] : data.reasons[data.why[i]];
const words = data.pods.map((pod, i) => (pod + "\n" + data.requests[data.request[i]] + "\n" + place(i)).toLowerCase());
let found = [], first = 0;

function filter() {
  const text = at("filter").value.trim().toLowerCase(), show = at("show").value;
  found = [];
  for (let i = 0; i < data.pods.length; i++) {
    if (show !== "all" && (show === "placed") !== (data.where[i] >= 0)) continue;
    if (words[i].includes(text)) found.push(i);
  }
  first = 0;
  rows();
}

function rows() {
  const some = found.slice(first, first + pageRows);
  at("pods").tBodies[0].replaceChildren(...some.map((i) => {
    const row = document.createElement("tr");
    for (const [label, text] of [["#", i + 1], ["Pod", data.pods[i]], ["Requests", data.requests[data.request[i]]], ["Goes to, or why not", place(i)]]) {
      const field = row.insertCell();
      field.dataset.label = label;
      // A line may end behind a slash.
      String(text).split(/(?<=\/)/).forEach((part, k) => field.append(...(k > 0 ? [document.createElement("wbr"), part] : [part])));
    }
    if (data.where[i] < 0) row.lastChild.className = "nowhere";
    return row;
  }));
  at("count").textContent = found.length === 0 ? "No such pod" :
    (first + 1) + "–" + (first + some.length) + " of " + found.length + (found.length === 1 ? " pod" : " pods");
  at("previous").disabled = first === 0;
  at("next").disabled = first + pageRows >= found.length;
}

at("filter").addEventListener("input", filter);
at("show").addEventListener("change", filter);
at("previous").addEventListener("click", () => { first -= pageRows; rows(); });
at("next").addEventListener("click", () => { first += pageRows; rows(); });
draw();
filter();

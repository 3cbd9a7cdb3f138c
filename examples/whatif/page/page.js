"use strict";
// Data of objects gets into the page as text only (textContent), never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const pageRows = 100;

// The cluster: a square for each node.
const maps = [{canvas: at("before"), shares: data.before}, {canvas: at("after"), shares: data.after}];
const dark = matchMedia("(prefers-color-scheme: dark)");
const none = -1, absent = -2; // a node without the resource; one that is not there yet
let chosen = -1, cell = 1, columns = 1, printing = false;

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
    cell = Math.max(6, Math.min(28, Math.floor(Math.sqrt(width * width * .6 / Math.max(n, 1)))));
    columns = Math.max(1, Math.floor(width / cell));
    const height = Math.max(1, Math.ceil(n / columns)) * cell;
    map.canvas.style.height = height + "px";
    map.canvas.width = Math.round(width * scale);
    map.canvas.height = Math.round(height * scale);
    const context = map.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const shares = map.shares[resource] || [];
    for (let i = 0; i < n; i++) square(context, p, shares[i], i % columns * cell, Math.floor(i / columns) * cell, cell - 1);
    if (chosen >= 0) {
      context.strokeStyle = p.mark;
      context.lineWidth = 2;
      context.strokeRect(chosen % columns * cell, Math.floor(chosen / columns) * cell, cell - 1, cell - 1);
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

for (const map of maps) {
  map.canvas.addEventListener("click", (event) => {
    const x = Math.floor(event.offsetX / cell), y = Math.floor(event.offsetY / cell);
    if (x < columns && y * columns + x < data.nodes.length) choose(y * columns + x);
  });
  map.canvas.addEventListener("keydown", (event) => {
    const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns};
    const ends = {Home: 0, End: data.nodes.length - 1};
    if (event.key in steps || event.key in ends) {
      choose(ends[event.key] ?? (chosen < 0 ? 0 : chosen + steps[event.key]));
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
    for (const text of [i + 1, data.pods[i], data.requests[data.request[i]], place(i)]) {
      row.insertCell().textContent = text;
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

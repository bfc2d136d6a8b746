"use strict";
// The plots are drawn already; this makes them answer: choose solvers, read values, sort the table.
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const keys = all("#legend .key");
const marks = data.series.map((_, k) => all(`[data-k="${k}"]`).filter(e => !keys.includes(e)));

function show(k, on) {
  for (const e of [keys[k], ...marks[k]]) e.classList.toggle("off", !on);
  keys[k].setAttribute("aria-pressed", on);
}
function light(k) {
  for (const plot of all("svg.plot")) plot.classList.toggle("dim", k !== null);
  marks.forEach((list, i) => list.forEach(e => e.classList.toggle("lit", i === k)));
}
keys.forEach((key, k) => {
  key.onclick = () => show(k, key.classList.contains("off"));
  key.onmouseenter = key.onfocus = () => light(k);
  key.onmouseleave = key.onblur = () => light(null);
});
for (const [id, rule] of [["best", k => k < data.bright], ["every", () => true], ["none", () => false]])
  document.getElementById(id).onclick = () => keys.forEach((_, k) => show(k, rule(k)));

const tip = document.getElementById("tip");
function tell(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = event.clientY + 14 + "px";
}
const share = (steps, tau) => steps.reduce((y, [x, f]) => (x <= tau ? f : y), 0);
// Over a profile: the curve nearest to the pointer, among those in colour if there are any.
for (const plot of all("svg.profile")) {
  const { tolerance, left, right, top, bottom, most } = JSON.parse(plot.dataset.axes);
  plot.onmousemove = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
    const tau = most ** ((point.x - left) / (right - left));
    const y = (bottom - point.y) / (bottom - top);
    if (tau < 1 || tau > most || y < -0.02 || y > 1.02) return plot.onmouseleave(event);
    let list = data.series.map((s, k) => k).filter(k => !keys[k].classList.contains("off"));
    if (!list.length) list = data.series.map((_, k) => k);
    const value = k => share(data.series[k].profile[tolerance], tau);
    const k = list.reduce((a, b) => (Math.abs(value(b) - y) < Math.abs(value(a) - y) ? b : a));
    light(k);
    tell(event, `${data.series[k].label}: ${Math.round(100 * value(k))} % of the problems within ` +
      `${tau.toPrecision(3)} times the fastest`);
  };
  plot.onmouseleave = event => { light(null); tell(event, ""); };
}
for (const dot of all("svg .dot")) {
  const text = dot.querySelector("title").textContent;
  dot.onmouseenter = event => { light(Number(dot.dataset.k)); tell(event, text); };
  dot.onmouseleave = event => { light(null); tell(event, ""); };
}

// The table, from the same data as the plots.
const column = name => data.columns.indexOf(name);
const body = document.querySelector("tbody");
const heads = all("th");
let rows = data.rows, order = null;
function cell(value, text) {
  const td = document.createElement("td");
  if (text) td.className = "text";
  td.textContent = value === null ? "–" : typeof value === "number" && !Number.isInteger(value)
    ? (Math.abs(value) < 0.01 ? value.toExponential(2) : value.toPrecision(4)) : value;
  return td;
}
function fill() {
  const word = document.getElementById("filter").value.toLowerCase();
  const shown = rows.filter(r => !word || r.some(v => typeof v === "string" && v.toLowerCase().includes(word)));
  body.replaceChildren(...shown.map(r => {
    const tr = document.createElement("tr");
    const outcome = r[column("outcome")];
    if (outcome !== "solved") tr.className = outcome === "not for this problem" ? "refused" : "unsolved";
    tr.append(...r.map((v, j) => cell(v, data.text[j])));
    return tr;
  }));
}
heads.forEach((head, j) => {
  head.tabIndex = 0;
  head.onkeydown = event => { if (event.key === "Enter") head.onclick(); };
  head.onclick = () => {
    const down = order === j + 1;
    order = down ? -(j + 1) : j + 1;
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    rows = [...rows].sort((a, b) => // what is not known comes last, either way
      a[j] === b[j] ? 0 : a[j] === null ? 1 : b[j] === null ? -1 : a[j] < b[j] ? -sign : sign);
    fill();
  };
});
document.getElementById("filter").oninput = fill;
fill();

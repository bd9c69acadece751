/* What moves on the page: marks that tell their values, and the table. */

/* --- charts: one Tab stop each, arrow keys walk the marks */

const tip = document.getElementById("tip");
let shown = null;

function words(point) {
  const title = point.querySelector("title");
  if (title) { /* or the browser would show it a second time */
    point.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  return point.getAttribute("aria-label") ?? "";
}

function show(point) {
  if (shown && shown !== point) hide();
  tip.textContent = words(point);
  tip.hidden = false;
  const mark = point.getBoundingClientRect(), box = tip.getBoundingClientRect();
  const middle = mark.left + mark.width / 2 - box.width / 2;
  tip.style.left = `${Math.max(4, Math.min(middle, document.documentElement.clientWidth - box.width - 4))}px`;
  const above = mark.top - box.height - 8;
  tip.style.top = `${above > 4 ? above : mark.bottom + 8}px`;
  point.classList.add("here");
  shown = point;
}

function hide() {
  shown?.classList.remove("here");
  shown = null;
  tip.hidden = true;
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function walkable(chart) {
  const points = chart.querySelectorAll(".point");
  if (!points.length) return;
  let at = 0;
  const move = (to, focus) => {
    points[at].setAttribute("tabindex", "-1");
    at = Math.max(0, Math.min(to, points.length - 1));
    points[at].setAttribute("tabindex", "0");
    if (focus) points[at].focus();
  };
  move(0, false);
  chart.addEventListener("pointerover", (event) => {
    const point = event.target.closest(".point");
    if (point) show(point); else hide();
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focusin", (event) => {
    const point = event.target.closest(".point");
    if (!point) return;
    at = Array.prototype.indexOf.call(points, point);
    point.scrollIntoView({ block: "nearest", inline: "nearest" });
    show(point);
  });
  chart.addEventListener("focusout", hide);
  chart.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const to = event.key === "Home" ? 0 : event.key === "End" ? points.length - 1
      : event.key in STEPS ? at + STEPS[event.key] : null;
    if (to === null) return;
    event.preventDefault();
    move(to, true);
  });
}

/* Charts of a big sweep become elements when they are nearly in sight, or printed. */
function unfold(place) {
  const text = place.querySelector("script").textContent;
  place.classList.remove("later");
  place.innerHTML = text;
  walkable(place.firstElementChild);
}

const near = new IntersectionObserver((seen) => {
  for (const one of seen) {
    if (!one.isIntersecting) continue;
    near.unobserve(one.target);
    unfold(one.target);
  }
}, { rootMargin: "500px 0px" });

document.querySelectorAll(".picture svg").forEach(walkable);
for (const place of document.querySelectorAll(".later")) near.observe(place);
addEventListener("beforeprint", () => document.querySelectorAll(".later").forEach(unfold));
addEventListener("scroll", () => { if (document.activeElement !== shown) hide(); }, { passive: true });

/* --- the table */

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, minimumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function figure(value) {
  const size = Math.abs(value);
  return value && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : three.format(value);
}

const WRITE = {
  text: (text) => text,
  integer: (text) => (isNaN(text) ? text : whole.format(text)),
  seconds: (text) => {
    const [factor, unit] = UNITS.find(([one]) => text >= one) ?? UNITS.at(text == 0 ? 0 : -1);
    return `${three.format(text / factor)} ${unit}`;
  },
  ratio: (text) => `${three.format(text)}×`,
  figure: (text) => figure(Number(text)),
  bytes: (text) => `${figure(text / 1e6)} MB`,
};

/* Figures as figures; what has none comes last, whichever way they are sorted. */
const by = (sign) => (a, b) => (a === null) - (b === null) || sign * (a - b);
DataTable.type("figures", {
  order: { pre: (text) => (text === "" || isNaN(text) ? null : Number(text)), asc: by(1), desc: by(-1) },
});

const escaped = DataTable.render.text().display;

function column(given, index) {
  const write = WRITE[given.kind];
  return {
    data: index,
    name: given.name,
    title: escaped(given.label),
    type: given.kind === "text" ? "string" : "figures",
    className: given.kind === "text" ? (given.name === "reason" ? "words" : "") : "number",
    visible: given.shown,
    searchable: given.kind === "text" || given.name === "size",
    render: (text, what) => (what === "display" ? escaped(text === "" ? "" : write(text)) : text),
    createdCell: given.kind === "text" ? undefined : (cell, text) => { if (text) cell.title = text; },
  };
}

function rowsOf(columns) {
  const values = columns.map((one) => one.codes ? one.codes.map((code) => one.values[code]) : one.values);
  return values[0].map((_, row) => values.map((one) => one[row]));
}

/* Below each of these lies a choice of its values. */
const CHOICES = ["workload", "dtype", "backend", "scope", "status", "finding"];

function filters(table, columns) {
  const place = document.getElementById("filters");
  const add = (title, control) => {
    const label = document.createElement("label"), both = document.createElement("div");
    control.id = label.htmlFor = `filter-${title}`;
    label.append(title);
    both.append(label, control);
    place.append(both);
  };
  const search = document.createElement("input");
  search.type = "search";
  search.addEventListener("input", () => table.search(search.value).draw());
  add("search", search);
  for (const name of CHOICES) {
    const given = columns.find((one) => one.name === name);
    const values = [...new Set(given.values)].filter((value) => value !== "");
    if (values.length < 2) continue;
    const select = document.createElement("select");
    select.name = name;
    select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
    select.addEventListener("change", () => {
      const chosen = select.value;
      table.column(`${name}:name`).search(chosen ? (text) => text === chosen : "").draw();
    });
    add(given.label, select);
  }
}

function switches(table, columns) {
  const place = document.querySelector("#columns div");
  for (const given of columns) {
    const box = document.createElement("input"), label = document.createElement("label");
    box.type = "checkbox";
    box.checked = given.shown;
    box.name = given.name;
    box.addEventListener("change", () => table.column(`${given.name}:name`).visible(box.checked));
    label.append(box, ` ${given.name}`);
    place.append(label);
  }
}

function build() {
  const columns = JSON.parse(document.getElementById("summary-data").textContent);
  const rows = rowsOf(columns);
  const table = new DataTable("#summary", {
    data: rows,
    columns: columns.map(column),
    order: [],
    pageLength: 25,
    autoWidth: false,
    orderClasses: false,
    language: { zeroRecords: "No row is like that", emptyTable: "The summary has no rows" },
    layout: { topStart: null, topEnd: null, bottomStart: ["info", "pageLength"], bottomEnd: "paging" },
  });
  const area = document.querySelector(".dt-layout-table");
  area.setAttribute("tabindex", "0");
  area.setAttribute("role", "region");
  area.setAttribute("aria-labelledby", "table-title");
  if (rows.length) filters(table, columns);
  switches(table, columns);
  document.documentElement.dataset.table = "ready";
}

/* The verdict and the charts come first. */
requestAnimationFrame(() => setTimeout(build));

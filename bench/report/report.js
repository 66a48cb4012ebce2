// Shows, hides, sorts, filters and tells: everything that is shown stands in the page already.
"use strict";
(() => {
  const kRowsAtOnce = 100;
  const kReach = 14;  // pixels from the pointer to a point
  const printed = matchMedia("print");
  let type = "all";

  const number = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.replaceAll("\u2009", "");
    return text === "" || text === "–" ? NaN : Number(text);
  };

  class CaseTable {
    constructor(box) {
      this.table = box.querySelector("table");
      this.input = box.querySelector("input");
      this.select = box.querySelector("select");
      this.output = box.querySelector("output");
      this.more = box.querySelector(".rest button");
      this.limit = kRowsAtOnce;
      this.rows = Array.from(this.table.tBodies, (body) => {
        const cells = body.rows[0].cells;
        const verdict = body.rows[0].querySelector(".win, .tie, .loss");
        const words = Array.from(cells, (cell) => cell.textContent);
        return {body, cells, text: words.join(" ").toLowerCase(), verdict: verdict ? verdict.className : ""};
      });
      this.bodies = new Map(this.rows.map((row) => [row.body.id, row.body]));
      box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
      this.input.addEventListener("input", () => this.restart());
      this.select.addEventListener("input", () => this.restart());
      this.more.addEventListener("click", () => { this.limit = Infinity; this.show(); });
      this.table.tHead.addEventListener("click", (event) => {
        const heading = event.target.closest("th");
        if (heading) this.sort(heading);
      });
      this.table.addEventListener("click", (event) => {
        const button = event.target.closest("tbody th button");
        if (button) this.open(button.closest("tbody"), !button.closest("tbody").classList.contains("open"));
      });
      this.show();
    }

    open(body, wanted) {
      const first = this.bodies.get(body.id.replace(/\d+$/, body.dataset.of));  // with what is true of all types
      if (first && !body.querySelector(".matrix")) {
        body.rows[1].cells[0].append(first.querySelector(".matrix").cloneNode(true));
      }
      body.classList.toggle("open", wanted);
      body.querySelector("th button").setAttribute("aria-expanded", wanted);
    }

    restart() { this.limit = kRowsAtOnce; this.show(); }

    /// What is not shown is not in the document: thousands of rows that come and go would take a while. Print has all.
    show() {
      const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const verdict = this.select.value;
      const ofType = this.rows.filter((row) => type === "all" || row.body.dataset.type === type);
      const matching = ofType.filter((row) => (!verdict || row.verdict === verdict) && words.every((word) => row.text.includes(word)));
      const shown = printed.matches ? matching : matching.slice(0, this.limit);
      this.table.replaceChildren(this.table.tHead, ...shown.map((row) => row.body));
      this.output.textContent = `${matching.length} of ${ofType.length} cases`;
      this.more.hidden = matching.length <= this.limit;
      this.more.textContent = `Show all ${matching.length}`;
    }

    sort(heading) {
      const column = heading.cellIndex;
      const numeric = heading.classList.contains("n");
      const was = heading.getAttribute("aria-sort");
      const falling = was === "ascending";
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const keys = new Map(this.rows.map((row) => {
        const cell = row.cells[column];
        return [row, numeric ? number(cell) : cell.textContent];
      }));
      const sign = falling ? -1 : 1;
      const names = new Intl.Collator("en", {numeric: true});
      this.rows.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        if (!numeric) return sign * names.compare(x, y);
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);  // unknown ones stay last
        return sign * (x - y);
      });
      this.show();
    }

    /// Brings a case into view, with its details.
    find(body) {
      this.input.value = "";
      this.select.value = "";
      if (type !== "all" && body.dataset.type !== type) choose("all");
      this.restart();
      if (!body.isConnected) { this.limit = Infinity; this.show(); }
      this.open(body, true);
      body.scrollIntoView({block: "center"});
    }
  }

  const tables = new Map(Array.from(document.querySelectorAll(".cases"), (box) => [box.dataset.section, new CaseTable(box)]));

  document.documentElement.classList.remove("loading");

  function choose(wanted) {
    type = wanted;
    for (const button of document.querySelectorAll("[data-choose]")) {
      button.setAttribute("aria-pressed", button.dataset.choose === type);
    }
    for (const one of document.querySelectorAll("[data-type]:not(tbody)")) {
      one.classList.toggle("off", type !== "all" && one.dataset.type !== type);
    }
    for (const one of document.querySelectorAll("[data-only]")) one.classList.toggle("off", one.dataset.only !== type);
    for (const none of document.querySelectorAll(".none")) {
      const has = Array.from(none.parentNode.querySelectorAll(".summary")).some((one) => one.dataset.only === type);
      none.classList.toggle("off", has);
      for (const one of none.parentNode.querySelectorAll(".charts, figure")) one.classList.toggle("off", !has);
    }
    for (const table of tables.values()) table.restart();
    hideTip();
  }
  for (const button of document.querySelectorAll("[data-choose]")) {
    button.addEventListener("click", () => choose(button.dataset.choose));
  }

  printed.addEventListener("change", () => { for (const table of tables.values()) table.show(); });

  const tip = document.getElementById("tip");
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", 5.5);
  const places = new WeakMap();  // of the points of a chart

  function hideTip() {
    tip.hidden = true;
    ring.remove();
  }

  function nearest(svg, event) {
    if (!places.has(svg)) {
      places.set(svg, Array.from(svg.querySelectorAll("circle[data-i]"), (point) => (
        {point, x: point.cx.baseVal.value, y: point.cy.baseVal.value, group: point.parentNode})));
    }
    const scale = svg.getScreenCTM().a;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, least = (kReach / scale) ** 2;
    for (const place of places.get(svg)) {
      const distance = (place.x - at.x) ** 2 + (place.y - at.y) ** 2;
      if (distance <= least && !place.group.classList.contains("off")) [best, least] = [place, distance];
    }
    return best;
  }

  const tableOf = (element) => tables.get(element.closest("section").id);
  const rowOf = (svg, place) => tableOf(svg).bodies.get(`${svg.closest("section").id}-${place.point.dataset.i}`);

  /// The row's own cells, each with its heading.
  function tell(svg, place, event) {
    const body = rowOf(svg, place);
    const headings = Array.from(tableOf(svg).table.tHead.rows[0].cells, (cell) => cell.textContent);
    const cells = Array.from(body.rows[0].cells, (cell) => cell.textContent);
    const name = document.createElement("b");
    name.textContent = cells[0];
    const lines = headings.slice(1).map((heading, i) => {
      const line = document.createElement("span");
      const value = document.createElement("i");
      value.textContent = cells[i + 1];
      line.append(heading, value);
      return line;
    });
    tip.replaceChildren(name, ...lines);
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    const left = event.clientX + 16 + size.width > innerWidth ? event.clientX - 16 - size.width : event.clientX + 16;
    const top = Math.max(8, Math.min(event.clientY - 20, innerHeight - size.height - 8));
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${top}px`;
    ring.setAttribute("cx", place.x);
    ring.setAttribute("cy", place.y);
    svg.append(ring);
  }

  for (const svg of document.querySelectorAll("figure svg[role=img]")) {
    svg.addEventListener("pointermove", (event) => {
      const place = nearest(svg, event);
      if (place) tell(svg, place, event); else hideTip();
      svg.style.cursor = place ? "pointer" : "";
    });
    svg.addEventListener("pointerleave", hideTip);
    svg.addEventListener("click", (event) => {
      const place = nearest(svg, event);
      if (!place) return;
      hideTip();
      tableOf(svg).find(rowOf(svg, place));
    });
  }
  for (const link of document.querySelectorAll(".worst a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      tableOf(link).find(tableOf(link).bodies.get(link.hash.slice(1)));
    });
  }
})();

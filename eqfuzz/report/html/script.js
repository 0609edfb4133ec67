"use strict";
(function () {
  const root = document.documentElement;
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  const announce = (text) => { document.getElementById("announcer").textContent = text; };

  // Theme: system, light, dark
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const stored = () => { try { return localStorage.getItem("eqfuzz-theme"); } catch (error) { return null; } };
  const show = (theme) => {
    if (theme === "system") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", theme);
    button.textContent = "Theme: " + theme;
  };
  let theme = themes.includes(stored()) ? stored() : "system";
  show(theme);
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    show(theme);
    try { localStorage.setItem("eqfuzz-theme", theme); } catch (error) { /* a file may have no storage */ }
  });

  // Copy
  const copyByHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  };
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch (error) { return copyByHand(text); }
  };
  for (const one of all("button.copy")) {
    const label = one.textContent;
    one.hidden = false;
    one.addEventListener("click", async () => {
      const from = one.dataset.copyFrom;
      const done = await copy(from ? document.getElementById(from).textContent : one.dataset.copy);
      one.focus();
      one.textContent = done ? "Copied" : "Select and copy";
      announce(done ? "Copied" : "Could not copy");
      setTimeout(() => { one.textContent = label; }, 1500);
    });
  }

  // Sort: by the number in data-key where there is one, else by text
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const number = cell.dataset.key;
    return number === undefined ? cell.textContent.trim().toLowerCase() : Number(number);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sortBy = (table, head, column) => {
    const isNumber = table.tBodies[0].rows[0].cells[column].classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const direction = before === null ? (isNumber ? "descending" : "ascending") : before === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows).map((row, index) => ({ row, index, key: keyOf(row, column) }));
    rows.sort((a, b) => sign * compare(a.key, b.key) || a.index - b.index);
    table.tBodies[0].append(...rows.map((one) => one.row));
    const cards = table.dataset.cards && document.getElementById(table.dataset.cards);
    if (cards) cards.append(...rows.map((one) => document.getElementById(one.row.dataset.card)));
    announce("Sorted by " + head.textContent.trim() + ", " + direction);
  };
  for (const table of all("table.sortable")) {
    if (table.tBodies[0].rows.length < 2) continue;
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const inner = document.createElement("button");
      inner.type = "button";
      inner.append(...head.childNodes);
      head.append(inner);
      inner.addEventListener("click", () => sortBy(table, head, column));
    });
  }

  // Filter
  const form = document.getElementById("filter");
  if (form) {
    const cards = all(".card");
    const fields = ["severity", "verdict", "stage", "status"];
    const apply = () => {
      const words = document.getElementById("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = fields.map((name) => [name, document.getElementById("filter-" + name).value]).filter((one) => one[1]);
      let number = 0;
      for (const card of cards) {
        const fits = wanted.every(([name, value]) => name === "verdict" ? card.dataset.verdict.split(" ").includes(value) : card.dataset[name] === value)
          && words.every((word) => card.dataset.search.includes(word));
        card.hidden = !fits;
        number += fits;
      }
      for (const row of all("tr[data-card]")) row.hidden = document.getElementById(row.dataset.card).hidden;
      for (const section of all(".buckets")) {
        const inside = all(".card", section);
        const none = section.querySelector(".filtered");
        const empty = inside.length > 0 && inside.every((card) => card.hidden);
        if (none) none.hidden = !empty;
        const index = section.querySelector(".index");
        if (index) index.parentElement.hidden = empty;
      }
      document.getElementById("filter-count").textContent = number + " of " + cards.length + " buckets";
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();  // the fields would be empty only after this
      for (const field of all("input, select", form)) field.value = "";
      apply();
    });
    apply();
  }

  // Print everything that is folded
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();

"use strict";
(async () => {
  if (!window.DecompressionStream) return;  // an older browser: the page is what it is without JavaScript
  const root = document.documentElement;
  const table = document.getElementById("scores");
  const said = document.getElementById("said");
  const byId = (id) => document.getElementById(id);
  for (const part of document.querySelectorAll(".scripted")) part.hidden = false;

  // The state of the page is its fragment, so that a link shows the same view. A fragment without "=" is the address
  // of a section: it leaves the state as it is.
  let state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const save = (name, value) => {
    if ((state.get(name) || "") === value) return;
    if (value) state.set(name, value); else state.delete(name);
    history.replaceState(null, "", state.size ? "#" + state : location.pathname + location.search);
  };

  // Colours -----------------------------------------------------------------------------------------------------
  const themeButton = byId("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme === "dark";
  const applyTheme = (name) => {
    root.dataset.theme = name;
    themeButton.setAttribute("aria-pressed", String(isDark()));
  };
  const chosenTheme = () => ["light", "dark"].includes(state.get("theme")) ? state.get("theme") : (prefersDark.matches ? "dark" : "light");
  applyTheme(chosenTheme());
  themeButton.addEventListener("click", () => {
    applyTheme(isDark() ? "light" : "dark");
    save("theme", root.dataset.theme);
  });

  // The picture: for which datasets it holds, and on narrow screens which part of it --------------------------------
  const pressed = (button, group) => {
    for (const other of group.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
  };
  const boards = [...document.querySelectorAll(".board")];
  const showBoard = (number) => {
    const chosen = boards[number - 1] ? number : 1;
    boards.forEach((board, index) => { board.hidden = index + 1 !== chosen; });
    for (const answer of document.querySelectorAll("[data-answer]")) answer.hidden = answer.dataset.answer !== String(chosen);
    const button = document.querySelector(`[data-board="${chosen}"]`);
    if (button) pressed(button, button.parentElement);
    save("board", chosen === 1 ? "" : String(chosen));
  };
  for (const button of document.querySelectorAll("[data-board]"))
    button.addEventListener("click", () => showBoard(Number(button.dataset.board)));
  for (const button of document.querySelectorAll("button[data-view]"))
    button.addEventListener("click", () => {
      pressed(button, button.parentElement);
      for (const picture of document.querySelectorAll(".methods")) picture.dataset.view = button.dataset.view;
    });
  for (const button of document.querySelectorAll("button.all"))
    button.addEventListener("click", () => {
      button.closest(".board").classList.add("everything");
      button.remove();
    });
  showBoard(Number(state.get("board")) || 1);

  // The rest needs the data -----------------------------------------------------------------------------------------
  const expanded = (id) => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const data = JSON.parse(await expanded("data"));

  // Charts: a static picture until it is visible, then the same specification drawn here; on white in both themes,
  // as on paper ---------------------------------------------------------------------------------------------------
  const settings = { actions: false, ast: true, config: data.config, hover: true, mode: "vega-lite", renderer: "svg" };
  const loaded = async () => {
    const script = document.createElement("script");
    script.textContent = await expanded("library");
    document.head.append(script);
  };
  let library = null;
  const draw = async (place) => {
    const picture = place.firstElementChild;
    const words = picture.getAttribute("aria-label") || picture.getAttribute("alt") || "";
    const target = document.createElement("div");
    await (library ||= loaded());
    await vegaEmbed(target, { ...data.charts[place.dataset.chart], description: words }, settings);
    place.replaceChildren(target);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target).catch(console.error); }
  });
  for (const place of document.querySelectorAll(".picture[data-chart]")) seen.observe(place);

  const formula = new RegExp(data.formula, "u");
  const quoted = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (formula.test(text) && Number.isNaN(Number(text))) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const download = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  // All rows of a chart's data, one part below the other, under the columns of all.
  const rowsOf = (name) => {
    const parts = Object.values(data.charts[name].datasets || {});
    const inline = data.charts[name].data;
    if (inline && inline.values) parts.push(inline.values);
    const rows = parts.flat();
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const plain = (value) => typeof value === "object" && value !== null ? JSON.stringify(value) : value;
    return [columns, ...rows.map((row) => columns.map((column) => plain(row[column])))];
  };
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.download;
      download(name + ".csv", rowsOf(name).map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n");
    });
  }

  if (!table || !data.scores) return;

  // The table of scores -------------------------------------------------------------------------------------------
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const original = new Map(rows.map((row, index) => [row, index]));
  const datasetOf = (row) => Number(row.dataset.row);  // its place in the data
  const heads = [...table.tHead.rows[0].cells];
  const first = data.scores.first;
  table.classList.add("heat");

  const valueOf = (cell) => cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  const sortBy = (column, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const ordered = direction ? rows.slice().sort((a, b) => {
      if (column === 0) return sign * a.cells[0].textContent.localeCompare(b.cells[0].textContent);
      const x = valueOf(a.cells[column]), y = valueOf(b.cells[column]);
      return x === null ? 1 : y === null ? -1 : sign * (x - y) || original.get(a) - original.get(b);
    }) : rows.slice().sort((a, b) => original.get(a) - original.get(b));
    body.append(...ordered);
    heads.forEach((head, index) => {
      if (index === column && direction) head.setAttribute("aria-sort", direction); else head.removeAttribute("aria-sort");
    });
    save("sort", direction ? column + "." + direction : "");
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.dataset.name = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { null: "descending", descending: "ascending", ascending: null };
      sortBy(column, next[head.getAttribute("aria-sort")]);
    });
  });

  const visible = { datasets: null, columns: null };
  // Commas and semicolons outside of brackets separate names, and so do blanks if no name has one.
  const partsOf = (wanted, names) => {
    const parts = [""];
    let depth = 0;
    for (const sign of wanted) {
      depth += "([{".includes(sign) ? 1 : ")]}".includes(sign) ? -1 : 0;
      if (",;".includes(sign) && depth <= 0) parts.push(""); else parts[parts.length - 1] += sign;
    }
    const whole = names.some((name) => /\s/.test(name)) ? parts : parts.flatMap((part) => part.split(/\s+/));
    return whole.map((part) => part.trim()).filter(Boolean);
  };
  const matches = (name, parts) => !parts.length || parts.some((part) => name.toLowerCase().includes(part));
  const nameOf = (method) => data.scores.names[method] || data.scores.methods[method];
  const filter = () => {
    const dataset = byId("filter-datasets").value.trim().toLowerCase();
    const method = byId("filter-methods").value.trim().toLowerCase();
    const datasetParts = partsOf(dataset, data.scores.datasets), methodParts = partsOf(method, [...data.scores.methods, ...data.scores.names]);
    for (const row of rows) row.hidden = !matches(row.cells[0].textContent, datasetParts);
    visible.columns = heads.map(
      (head, column) => column < first || matches(data.scores.methods[column - first], methodParts)
        || matches(nameOf(column - first), methodParts)
    );
    for (const row of table.rows) for (let column = 0; column < row.cells.length; column += 1)
      row.cells[column].hidden = !visible.columns[column];
    save("datasets", dataset); save("methods", method);
    enterFirst();
  };
  const fields = ["filter-datasets", "filter-methods"].map(byId);
  for (const field of fields) field.addEventListener("input", filter);
  const spread = byId("spread");
  const showSpread = () => { table.classList.toggle("spread", spread.checked); save("spread", spread.checked ? "yes" : ""); };
  spread.addEventListener("change", showSpread);
  const shading = byId("heat");
  const shade = () => { table.classList.toggle("heat", shading.checked); save("shading", shading.checked ? "" : "no"); };
  shading.addEventListener("change", shade);

  // Verdicts of declared groups: computed before, chosen here ------------------------------------------------------
  const group = byId("group");
  const footer = table.tFoot;
  const showGroup = (index) => {
    const chosen = data.scores.groups[index];
    if (!chosen || !footer) return;
    footer.replaceChildren(...chosen.rows.map((texts) => {
      const row = document.createElement("tr");
      texts.forEach((text, column) => {
        const cell = document.createElement(column ? "td" : "th");
        if (!column) cell.scope = "row";
        cell.textContent = text;
        cell.hidden = visible.columns ? !visible.columns[column] : false;
        row.append(cell);
      });
      return row;
    }));
    byId("group-answer").textContent = index ? chosen.answer.join(" ") : "";
    save("group", index ? String(index) : "");
  };
  if (group) group.addEventListener("change", () => showGroup(Number(group.value)));

  // Published values -------------------------------------------------------------------------------------------------
  const published = byId("published");
  const showPublished = (isShown) => {
    rows.forEach((row) => {
      const index = datasetOf(row);
      for (let column = first; column < row.cells.length; column += 1) {
        const cell = row.cells[column], value = (data.scores.published[index] || [])[column - first];
        for (const old of cell.querySelectorAll("small")) old.remove();
        if (isShown && value) {
          const small = document.createElement("small");
          small.textContent = " " + value;
          cell.append(small);
        }
      }
    });
    save("published", isShown ? "yes" : "");
  };
  if (published) published.addEventListener("change", () => showPublished(published.checked));

  // A cell's folds ---------------------------------------------------------------------------------------------------
  const dialog = byId("cell");
  const line = (list, name, text) => {
    if (!text) return;
    const row = list.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = text;
  };
  const counted = (pairs) => pairs.map(([name, count]) => `${name} (${count} ×)`).join(", ");
  const seconds = (value) => value === null ? "–" : value >= 1 ? `${value.toPrecision(3)} s` : `${(1000 * value).toPrecision(3)} ms`;
  const open = (dataset, method) => {
    const found = (data.scores.details[dataset] || [])[method];
    if (!found) return;
    const [scores, times, memory, parameters, features, errors] = found;
    byId("cell-title").textContent = `${nameOf(method)} on ${data.scores.datasets[dataset]}`;
    const list = document.createElement("table");
    line(list, `${data.scores.metric} of each fold`, scores.map((value) => value === null ? "–" : value).join(", "));
    line(list, "Chosen parameters", counted(parameters));
    line(list, "Selected features", counted(features));
    line(list, "Median times", ["tuning", "selecting", "fitting", "predicting"].map((name, k) => `${name} ${seconds(times[k])}`).join(", "));
    line(list, "Peak memory", memory === null ? "" : `${(memory / 1e6).toFixed(1)} MB`);
    line(list, "Failed", counted(errors));
    byId("cell-content").replaceChildren(list);
    if (!dialog.open) dialog.showModal();
    save("cell", `${dataset}.${method}`);
  };
  dialog.addEventListener("close", () => save("cell", ""));
  rows.forEach((row) => {
    const dataset = datasetOf(row);
    for (let column = first; column < row.cells.length; column += 1) {
      const cell = row.cells[column];
      if (!(data.scores.details[dataset] || [])[column - first]) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.replaceChildren(button);
      button.addEventListener("click", () => open(dataset, column - first));
    }
  });

  // On narrow screens, a card for each dataset: its best methods, and all of them once it is opened -----------------
  const narrow = matchMedia("(max-width: 700px)");
  const showCards = () => {
    table.classList.toggle("cards", narrow.matches);
    for (const row of rows) {
      const name = row.cells[0];
      if (narrow.matches && !name.querySelector("button")) {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...name.childNodes);
        button.setAttribute("aria-expanded", "false");
        button.addEventListener("click", () => button.setAttribute("aria-expanded", String(row.classList.toggle("open"))));
        name.replaceChildren(button);
      } else if (!narrow.matches && name.querySelector("button")) {
        name.replaceChildren(...name.querySelector("button").childNodes);
        row.classList.remove("open");
      }
    }
  };
  for (const row of table.rows) for (let column = 1; column < row.cells.length; column += 1)
    row.cells[column].dataset.name = heads[column].dataset.name;
  showCards();
  narrow.addEventListener("change", showCards);

  // Copies of what is on screen ----------------------------------------------------------------------------------------
  const shown = () => [...table.rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].filter((cell) => !cell.hidden)
      .map((cell) => ({ text: cell.textContent.trim(), isBest: /^best/.test(cell.className) })));
  const latex = (text) => [...text].map((sign) => data.latex[sign] || sign).join("");
  const texts = (lines) => lines.map((cells) => cells.map((cell) => cell.text));
  const special = new RegExp(data.markdown, "gu");
  const forms = {
    csv: (lines) => texts(lines).map((cells) => cells.map(quoted).join(",")).join("\n") + "\n",
    markdown: (lines) => texts(lines).map((cells, index) =>
      "| " + cells.map((text) => text.replace(special, "\\$&")).join(" | ") + " |"
      + (index ? "" : "\n|" + cells.map((_, k) => (k ? " ---: |" : " --- |")).join(""))).join("\n") + "\n",
    latex: (lines) => "\\begin{tabular}{l" + "r".repeat(lines[0].length - 1) + "}\n\\toprule\n"
      + lines.map((cells, index) => cells.map((cell) => cell.isBest ? `\\textbf{${latex(cell.text)}}` : latex(cell.text))
        .join(" & ") + " \\\\" + (index ? "" : "\n\\midrule")).join("\n")
      + "\n\\bottomrule\n\\end{tabular}\n",
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => {
      const text = forms[button.dataset.copy](shown());
      // Browsers offer no clipboard to pages that come over plain HTTP.
      const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
      copied.then(
        () => { said.textContent = "Copied."; },
        () => { download("scores." + { csv: "csv", markdown: "md", latex: "tex" }[button.dataset.copy], text);
          said.textContent = "Saved as a file: the browser does not allow copying from here."; });
    });
  }

  // Arrow keys move between cells, so that one stop of the tab key leads into the table and the next out of it.
  const buttons = () => [...body.rows].filter((row) => !row.hidden)
    .map((row) => [...row.cells].slice(first).filter((cell) => !cell.hidden).map((cell) => cell.querySelector("button")));
  body.addEventListener("keydown", (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    const grid = buttons();
    const row = grid.findIndex((line) => line.includes(event.target));
    if (row < 0) return;
    let [line, place] = [row + step[0], grid[row].indexOf(event.target) + step[1]];
    while (grid[line] && grid[line][place] === null) { line += step[0]; place += step[1]; }  // a cell without folds
    const next = (grid[line] || [])[place];
    if (!next) return;
    event.preventDefault();
    enter(next);
    next.focus();
  });
  const enter = (button) => {
    for (const other of body.querySelectorAll("button")) other.tabIndex = other === button ? 0 : -1;
  };
  const enterFirst = () => {
    const current = body.querySelector('button[tabindex="0"]');
    if (current && current.offsetParent) return;
    const button = buttons().flat().find(Boolean);
    if (button) enter(button);
  };

  // The view of a link -------------------------------------------------------------------------------------------------
  const restore = () => {
    applyTheme(chosenTheme());
    for (const field of fields) field.value = state.get(field.id.replace("filter-", "")) || "";
    filter();
    shading.checked = state.get("shading") !== "no";
    shade();
    spread.checked = Boolean(state.get("spread"));
    showSpread();
    showBoard(Number(state.get("board")) || 1);
    const [column, direction] = (state.get("sort") || "").split(".");
    const isSorted = heads[column] && ["ascending", "descending"].includes(direction);
    sortBy(isSorted ? Number(column) : 0, isSorted ? direction : "");
    if (group) { group.value = data.scores.groups[state.get("group")] ? state.get("group") : "0"; showGroup(Number(group.value)); }
    if (published) { published.checked = Boolean(state.get("published")); showPublished(published.checked); }
    const cell = (state.get("cell") || "").split(".");
    if (cell.length === 2) open(Number(cell[0]), Number(cell[1])); else if (dialog.open) dialog.close();
  };
  restore();
  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.includes("=")) return;
    state = new URLSearchParams(location.hash.slice(1));
    restore();
  });
})();

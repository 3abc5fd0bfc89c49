"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const cells = new Map();
  const element = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const build = (state) => {
    const head = byId("head"), body = byId("body");
    head.replaceChildren(); body.replaceChildren(); cells.clear();
    element("th", "dataset", head).scope = "col";
    for (const method of state.methods) {
      const heading = element("th", "", head);
      heading.scope = "col";
      element("span", method, heading);
    }
    for (const dataset of state.datasets) {
      const row = element("tr", "", body);
      element("th", dataset, row).scope = "row";
      for (const method of state.methods) cells.set(dataset + "\n" + method, element("td", "", row));
    }
  };
  let shape = "";
  const show = (state) => {
    const now = JSON.stringify([state.methods, state.datasets]);
    if (now !== shape) { shape = now; build(state); }
    document.title = `${state.done} of ${state.total} · ${state.title}`;
    byId("title").textContent = state.title;
    byId("heading").textContent = state.done < state.total ? "A run under way" : "The run has ended";
    byId("state").textContent = `${state.state} Last result ${state.age}.`
      + (state.done < state.total && state.left ? ` About ${state.left} left.` : "");
    byId("bar").value = state.done; byId("bar").max = state.total;
    byId("metric").textContent = `Mean ${state.metric}; a cell fills as its trials end.`;
    byId("answer").replaceChildren();
    for (const sentence of state.answer) element("p", sentence, byId("answer"));
    for (const [dataset, method, planned, done, failed, mean] of state.cells) {
      const cell = cells.get(dataset + "\n" + method);
      cell.textContent = mean || (failed ? "failed" : "");
      cell.className = failed ? "failed" : "";
      cell.style.setProperty("--done", done / planned);
      cell.title = `${done} of ${planned} trials${failed ? `, ${failed} failed` : ""}`;
    }
  };
  const poll = () => fetch("state").then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText)))
    .then(show, () => { byId("state").textContent = "mfbench watch has ended, or the run's folder is gone."; })
    .then(() => setTimeout(poll, 2000));
  poll();
})();

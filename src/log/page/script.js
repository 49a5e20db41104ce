"use strict";
// Everything recorded is untrusted text: it reaches the page through textContent alone.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, cls, text, ...children) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    node.append(...children);
    return node;
  };
  const number = (n) => n.toLocaleString("en");
  const none = (text) => make("p", "hint", text);
  const known = ["allow", "warn", "deny", "run", "blocked", "observed", "unmediated"];
  const tag = (word) => make("span", "tag " + (known.includes(word) ? word : ""), word.toUpperCase());

  const table = (heads, rows) => {
    const head = make("tr", "", null, ...heads.map(([h, c]) => make("th", c, h)));
    const body = rows.map((cells) => make("tr", "", null, ...cells.map((cell, i) => {
      const td = make("td", heads[i][1]);
      td.append(typeof cell === "number" ? number(cell) : cell);
      return td;
    })));
    return make("table", "", null, make("thead", "", null, head), make("tbody", "", null, ...body));
  };

  const evidence = (e) => {
    const list = make("dl");
    const add = (name, value) => { if (value) list.append(make("dt", "", name), make("dd", "", value)); };
    add("when", e.time); add("folder", e.cwd); add("agent", e.agent);
    add("score", e.score && `${e.score} (structure ${e.views[0]}, semantics ${e.views[1]}, paths ${e.views[2]}, patterns ${e.views[3]})`);
    add("rules", e.rules.replaceAll(",", ", ")); add("notes", e.notes); add("coverage", e.coverage);
    add("confinement", e.confinement); add("sha256", e.sha256);
    add("ask again", "agent-shctl explain -c '…' shows effects and targets");
    return list;
  };
  const event = (e) => {
    const details = make("details");
    details.append(make("summary", "", null, make("span", "dim", e.time.slice(0, 19).replace("T", " ")),
      tag(e.verdict), tag(e.outcome), make("span", "code", e.text)));
    details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(evidence(e)); });
    return details;
  };
  const list = (into, events, empty) => into.replaceChildren(...(events.length ? events.map(event) : [none(empty)]));

  const time = () => {
    const buckets = data.time;
    if (!buckets.length) return $("time").replaceChildren(none("No records."));
    const space = "http://www.w3.org/2000/svg";
    const node = (name, attributes, text) => {
      const n = document.createElementNS(space, name);
      for (const [k, v] of Object.entries(attributes)) n.setAttribute(k, v);
      if (text) n.textContent = text;
      return n;
    };
    const kinds = ["blocked", "observed", "unmediated", "run"];
    const most = Math.max(...buckets.map((b) => b.counts.reduce((x, y) => x + y, 0)));
    const svg = node("svg", { viewBox: "0 0 1000 180", role: "img", preserveAspectRatio: "none" });
    svg.append(node("title", {}, "commands per " + data.bucket));
    const width = 1000 / buckets.length;
    buckets.forEach((b, i) => {
      let y = 160;
      const group = node("g", {});
      group.append(node("title", {}, `${b.label}: ` + kinds.map((k, j) => `${k} ${number(b.counts[j])}`).join(", ")));
      kinds.forEach((k, j) => {
        const h = 150 * b.counts[j] / most;
        y -= h;
        if (h > 0) group.append(node("rect", { class: k, x: i * width, y, width: Math.max(width - 1, 0.5), height: h }));
      });
      svg.append(group);
    });
    svg.append(node("line", { x1: 0, x2: 1000, y1: 160, y2: 160 }));
    const legend = make("div", "legend", null, ...kinds.map((k) => make("span", k, k)),
      make("span", "dim", `per ${data.bucket}, at most ${number(most)}; ${buckets[0].label} to ${buckets[buckets.length - 1].label} UTC`));
    $("time").replaceChildren(svg, legend);
  };

  const rules = () => {
    const rows = data.rules.map((r) => {
      const details = make("details");
      details.append(make("summary", "", null, make("span", "code", r.id), make("span", "dim", number(r.refused) + " refused")));
      details.append(...r.examples.map((e) => make("div", "code", e)));
      return details;
    });
    $("rules").replaceChildren(...(rows.length ? rows : [none("No rule refused anything.")]));
  };
  const counts = (id, name, rows) => $(id).replaceChildren(rows.length
    ? table([[name, ""], ["refused", "n"], ["all", "n"]], rows.map((r) => [make("code", "", r.name), r.refused, r.total]))
    : none("None."));

  const step = 100;
  let shown = step;
  const search = () => {
    const words = $("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    const want = [["verdict", $("verdict").value], ["outcome", $("outcome").value], ["agent", $("agent").value]];
    const rule = $("rule").value;
    const hits = data.events.filter((e) => want.every(([k, v]) => !v || e[k] === v)
      && (!rule || e.rules.split(",").includes(rule))
      && words.every((w) => `${e.text}\n${e.cwd}\n${e.rules}`.toLowerCase().includes(w)));
    $("found").textContent = number(hits.length) + " found";
    list($("events"), hits.slice(0, shown), "Nothing matches.");
    $("more").hidden = hits.length <= shown;
  };

  time(); rules();
  counts("agents", "agent", data.agents); counts("folders", "folder", data.folders);
  list($("observed"), data.events.filter((e) => e.outcome === "observed").slice(0, step), "Nothing.");
  list($("undecided"), data.events.filter((e) => e.verdict === "warn").slice(0, step), "Nothing.");
  $("costly").replaceChildren(table([["microseconds", "n"], ["text", ""]], data.costly.map((c) => [c.micros, make("code", "", c.text)])));
  $("kept").textContent = `The last ${number(data.events.length)} of ${number(data.total)} records, those that were refused or undecided first of all.`;
  [...new Set(data.events.map((e) => e.agent))].sort().forEach((a) => $("agent").append(make("option", "", a)));
  [...new Set(data.events.flatMap((e) => e.rules.split(",")))].filter(Boolean).sort()
    .forEach((r) => $("rule").append(make("option", "", r)));
  for (const id of ["query", "verdict", "outcome", "rule", "agent"]) $(id).addEventListener("input", () => { shown = step; search(); });
  $("more").addEventListener("click", () => { shown += step; search(); });
  search();
})();

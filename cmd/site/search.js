// The search: every word of the query must be in the title or the text of a page; titles come first.
"use strict";
const root = document.currentScript.dataset.root;
const form = document.getElementById("search"), query = document.getElementById("query"), found = document.getElementById("found");
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
query.addEventListener("input", () => {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  found.replaceChildren();
  if (found.hidden) return;
  const hits = [];
  for (const page of flowrunPages) {
    const title = page.title.toLowerCase();
    if (!words.every((w) => title.includes(w) || page.text.includes(w))) continue;
    hits.push([words.filter((w) => title.includes(w)).length, page]);
  }
  hits.sort((a, b) => b[0] - a[0]);
  const count = document.createElement("p"), list = document.createElement("ul");
  count.textContent = hits.length === 1 ? "1 page" : hits.length + " pages";
  for (const [, page] of hits.slice(0, 30)) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = root + page.path;
    link.textContent = page.title;
    item.append(link, " " + page.section);
    list.append(item);
  }
  found.append(count, list);
});

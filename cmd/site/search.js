// The search: the words of the query begin words of the title or the text of a page. Pages with all words come first, then titles, then how-tos.
// If no page has all words, those with most of them are shown.
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
  const begins = words.map((w) => new RegExp("(^|[^\\p{L}\\p{N}])" + w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "iu"));
  let hits = [];
  for (const page of flowrunPages) {
    const titles = begins.filter((b) => b.test(page.title)).length;
    const all = begins.filter((b) => b.test(page.title) || b.test(page.text)).length;
    if (all > 0) hits.push({ page, all, rank: all * 100 + titles * 2 + (page.section === "How to" ? 1 : 0) });
  }
  const most = Math.max(0, ...hits.map((h) => h.all));
  hits = hits.filter((h) => h.all === most).sort((a, b) => b.rank - a.rank);
  const count = document.createElement("p"), list = document.createElement("ul");
  count.textContent = (hits.length === 1 ? "1 page" : hits.length + " pages") + (hits.length > 0 && most < words.length ? ", none of them with all words" : "");
  for (const { page } of hits.slice(0, 30)) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = root + page.path;
    link.textContent = page.title;
    item.append(link, " " + page.section);
    list.append(item);
  }
  found.append(count, list);
});

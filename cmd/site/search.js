// The search: the words of the query begin words of a page, which is a file of the site or a part of the language. Pages with all words come
// first. Among them those whose title, or whose list of words that readers look for, has the words; how-tos before others; words of other tools
// after others; diagnostics last, unless the query has a code. A result leads to the heading below which most of the words are.
"use strict";

// flowrunSearch returns the results, best first, and whether they have all words.
function flowrunSearch(pages, query) {
  const typed = query.toLowerCase().split(/[\s"'`?]+/).map((w) => w.replace(/\(\)$/, "")).filter(Boolean);
  const asks = typed.filter((w) => !/^(a|an|the|is|are|do|does|how|i|to|of|what|my|it|can)$/.test(w));
  const words = asks.length > 0 ? asks : typed;
  const code = words.some((w) => /^f\d/.test(w));
  const looks = words.map((w) => {
    const word = w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return { begin: new RegExp("(^|[^\\p{L}\\p{N}])" + word, "iu"), whole: new RegExp("(^|[^\\p{L}\\p{N}_])" + word + "($|[^\\p{L}\\p{N}_])", "iu") };
  });
  const score = (look, text, whole, begin) => look.whole.test(text) ? whole : look.begin.test(text) ? begin : 0;
  let hits = [];
  for (const page of pages) {
    const parts = page.parts.map(([id, heading, text]) => {
      const found = looks.map((look) => Math.max(score(look, heading, 3, 3), look.begin.test(text) ? 1 : 0));
      return { id, heading, found, count: found.filter(Boolean).length, sum: found.reduce((a, b) => a + b, 0) };
    });
    const named = looks.map((look) => Math.max(score(look, page.title, 9, 4), score(look, page.words || "", 8, 3)));
    const best = looks.map((_, i) => Math.max(named[i], ...parts.map((part) => part.found[i])));
    const all = best.filter(Boolean).length;
    if (all === 0) continue;
    const part = parts.reduce((a, b) => b.count > a.count || b.count === a.count && b.sum > a.sum ? b : a);
    const nearest = part.id !== "" && named.filter(Boolean).length < all ? part : parts[0];
    let rank = all * 1000 + best.reduce((a, b) => a + b, 0);
    if (page.section === "How to") rank += 2;
    if (page.section === "Words of other tools") rank -= 4 * words.length;
    if (page.section === "Diagnostics" && !code) rank -= 500;
    hits.push({ page, all, rank, path: page.path + (nearest.id === "" ? "" : "#" + nearest.id), heading: nearest.heading });
  }
  const most = Math.max(0, ...hits.map((hit) => hit.all));
  hits = hits.filter((hit) => hit.all === most).sort((a, b) => b.rank - a.rank);
  return { hits, whole: most === words.length };
}

{
  const root = document.currentScript.dataset.root;
  const form = document.getElementById("flowrun-search"), query = document.getElementById("flowrun-query"), found = document.getElementById("flowrun-found");
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", () => {
    found.hidden = query.value.trim() === "";
    found.replaceChildren();
    if (found.hidden) return;
    const { hits, whole } = flowrunSearch(flowrunPages, query.value);
    const count = document.createElement("p"), list = document.createElement("ul");
    count.textContent = (hits.length === 1 ? "1 page" : hits.length + " pages") + (hits.length > 0 && !whole ? ", none of them with all words" : "");
    for (const { page, path, heading } of hits.slice(0, 30)) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = root + path;
      link.textContent = page.title + (heading === "" ? "" : ": " + heading);
      item.append(link, " " + page.section);
      list.append(item);
    }
    found.append(count, list);
  });
}

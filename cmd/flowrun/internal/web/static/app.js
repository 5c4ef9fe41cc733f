// What the pages do besides htmx: times in the zone of the browser, the login by a link, and what a person types survives a new drawing.
"use strict";
(() => {
  const words = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium"});
  const local = root => {
    for (const t of root.querySelectorAll("time[datetime]")) {
      const at = new Date(t.dateTime);
      if (isNaN(at)) continue;
      const text = words.format(at);
      if (t.title) t.title = text; else if (t.textContent !== text) t.textContent = text;
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    local(document);
    document.querySelector("form[data-submit]")?.requestSubmit();
  });
  document.addEventListener("htmx:after:swap", () => local(document));
  // A page is not drawn again under somebody who writes into one of its forms.
  let typed = false;
  document.addEventListener("input", e => { if (e.target.closest("main form")) typed = true; });
  for (const what of ["htmx:config:request", "htmx:before:swap"]) { // a drawing that was asked for before the first letter is dropped, too
    document.addEventListener(what, e => { if (typed) e.preventDefault(); });
  }
})();

"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const main = $("main"), box = $("search"), found = $("found");
  const entries = () => main.querySelectorAll(":scope > .entry:not(.off)");
  let hits = [], at = -1, timer = 0, opened = [];

  // One branch at a time: the parts of which it is made, each from its first entry to the one where the next goes on.
  const branch = $("branch"), number = (e) => Number(e.id.slice(1));
  const parts = (branch?.dataset.parts ?? "").split(" ").map((p) => p.split(",").map(Number));
  const path = (i) => {
    const spans = [];
    for (let end = parts[i][1]; i >= 0;) {
      const [first, , from, to] = parts[i];
      spans.push([first, end]);
      [i, end] = [from, to];
    }
    return (seq) => spans.some(([first, last]) => seq >= first && seq <= last);
  };
  const read = () => {
    const on = branch.value === "" ? () => true : path(Number(branch.value));
    document.body.classList.toggle("one", branch.value !== "");
    main.querySelectorAll(":scope > .entry").forEach((e) => e.classList.toggle("off", !on(number(e))));
    document.querySelectorAll(".toc li > a").forEach((a) => a.parentElement.classList.toggle("off", !on(Number(a.hash.slice(2)))));
    search();
  };
  // Where an entry is not on the branch that is read, the first one that has it is.
  const reach = (entry) => {
    if (!entry?.classList.contains("off")) return;
    branch.value = [...branch.options].map((o) => o.value).find((v) => v !== "" && path(Number(v))(number(entry))) ?? "";
    read();
  };

  // A link may name an entry by its number (#e12) or by its ID, or a branch (#b2); what is folded around an entry opens.
  const follow = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    if (branch && /^b\d+$/.test(name) && [...branch.options].some((o) => o.value === name.slice(1))) {
      branch.value = name.slice(1);
      read();
      return;
    }
    const target = $(name) || main.querySelector(`[data-id="${CSS.escape(name)}"]`);
    if (!target) return;
    reach(target.closest(".entry"));
    if (document.body.classList.contains("searching") && !target.closest(".entry")?.classList.contains("hit")) { box.value = ""; search(); }
    for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    target.scrollIntoView();
    target.querySelector("a, summary")?.focus({ preventScroll: true });
  };
  const folds = (open) => main.querySelectorAll("details").forEach((d) => { d.open = open; });
  $("open").onclick = () => folds(true);
  $("close").onclick = () => folds(false);
  branch?.addEventListener("change", () => {
    history.replaceState(null, "", branch.value === "" ? location.pathname : `#b${branch.value}`);
    read();
  });

  // Ranges of the words in an entry, for the browser to paint: the page itself is not changed.
  const ranges = (entry, words, list, most) => {
    const walk = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n && list.length < most; n = walk.nextNode()) {
      const text = n.data.toLowerCase();
      for (let i = text.indexOf(words); i >= 0 && list.length < most; i = text.indexOf(words, i + words.length)) {
        const r = document.createRange();
        r.setStart(n, i);
        r.setEnd(n, i + words.length);
        list.push(r);
      }
    }
  };
  const show = (i) => {
    if (!hits.length) return;
    hits[at]?.classList.remove("now");
    at = (i + hits.length) % hits.length;
    hits[at].classList.add("now");
    hits[at].scrollIntoView({ block: "start" });
    found.textContent = `${at + 1} of ${hits.length}`;
  };
  const search = () => {
    const words = box.value.trim().toLowerCase();
    hits[at]?.classList.remove("now");
    opened.forEach((d) => { d.open = false; });
    hits = []; at = -1; opened = [];
    if (window.CSS && CSS.highlights) CSS.highlights.clear();
    document.body.classList.toggle("searching", words !== "");
    if (!words) { found.textContent = ""; return; }
    const list = [];
    entries().forEach((e) => {
      const hit = e.textContent.toLowerCase().includes(words);
      e.classList.toggle("hit", hit);
      if (!hit) return;
      hits.push(e);
      if (hits.length > 300) return;
      ranges(e, words, list, 5000);
      e.querySelectorAll("details:not([open])").forEach((d) => {
        if (d.textContent.toLowerCase().includes(words)) { d.open = true; opened.push(d); }
      });
    });
    if (window.Highlight && CSS.highlights) CSS.highlights.set("found", new Highlight(...list));
    found.textContent = hits.length ? `${hits.length} found` : "nothing found";
  };
  box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  box.addEventListener("keydown", (e) => {
    if (e.key === "Enter") { e.preventDefault(); show(at + (e.shiftKey ? -1 : 1)); }
    if (e.key === "Escape") { box.value = ""; search(); box.blur(); }
  });
  $("next").onclick = () => show(at + 1);
  $("prev").onclick = () => show(at - 1);
  addEventListener("hashchange", follow);
  follow();
  addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA)$/.test(e.target.tagName)) return;
    e.preventDefault();
    box.focus();
  });
})();

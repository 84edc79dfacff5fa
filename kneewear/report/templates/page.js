"use strict";
// Contents that mark the section in view, sections that open where they are linked, and printing.
(() => {
  const links = [...document.querySelectorAll("nav a[href^='#']")];
  const parts = links.map((link) => document.getElementById(link.hash.slice(1)));
  function open(part) {
    const own = part?.querySelector("details");
    if (own && part.tagName === "SECTION") own.open = true;
    for (let one = part; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  }
  function mark() {
    let number = 0;
    parts.forEach((part, i) => { if (part.getBoundingClientRect().top < window.innerHeight * 0.3) number = i; });
    links.forEach((link, i) => {
      if (i !== number) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const list = link.closest("ol");
        list.scrollLeft = link.offsetLeft - list.clientWidth / 3;
      }
    });
  }
  const follow = () => open(document.getElementById(decodeURIComponent(window.location.hash.slice(1))));
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) open(document.getElementById(link.hash.slice(1)));
  });
  window.addEventListener("scroll", mark, { passive: true });
  if (links.length) mark();
  follow();
  // All of it is printed.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    if (!closed.length) closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((one) => { one.open = false; });
    closed = [];
  });
})();

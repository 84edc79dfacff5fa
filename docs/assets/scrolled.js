// Tables wider than the page scroll within it: the keyboard reaches them.
addEventListener("load", () => setTimeout(() => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .highlight code, .formula")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
}, 0));

// What readers of screens and people with a keyboard miss in the theme.
addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("p.caption").forEach((one) => one.setAttribute("aria-level", "2"));
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  document.querySelectorAll("pre").forEach((one) => one.setAttribute("tabindex", "0"));
});

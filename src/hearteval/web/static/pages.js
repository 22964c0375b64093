// What the pages can do without, kept small: counts words, keeps drafts, keeps what was typed when
// the connection is lost, and notes pastes and times away. Nothing here decides anything.
(function () {
  "use strict";
  const KEPT = "heart-draft-";
  const EVERY = 1500;
  let timer = 0;

  function task() { return document.querySelector("form.task"); }
  function field(form, name) { return form.querySelector('[name="' + name + '"]'); }
  function ticket(form) { const found = field(form, "ticket"); return found ? found.value : form.dataset.kept || ""; }

  // Times are of the clock that the reader has, with the day where it is not today.
  function localTimes() {
    for (const it of document.querySelectorAll("time[data-local]")) {
      const at = new Date(it.dateTime);
      const day = at.toDateString() === new Date().toDateString() ? {} : { weekday: "long" };
      it.textContent = at.toLocaleString(document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang, Object.assign({ hour: "2-digit", minute: "2-digit" }, day));
    }
  }

  function begin() {
    count();
    localTimes();
    for (const copy of document.querySelectorAll("[data-copy]")) copy.hidden = !navigator.clipboard;
    const faults = document.getElementById("faults");
    if (faults) faults.focus();
    const form = task();
    if (form && ticket(form)) restore(form);
    if (form && form.querySelector("fieldset.label")) label(form);
  }

  // Labels: words marked in the text are offered as evidence, the rest can be answered at once.
  let marked = "";
  let filled = [];

  function questions(form) { return Array.from(form.querySelectorAll("fieldset.label")); }
  function answerOf(group) { return group.querySelector("input[type=radio]:checked"); }
  function openOnes(form) { return questions(form).filter(function (group) { return !answerOf(group); }); }

  function label(form) {
    filled = [];
    for (const button of form.querySelectorAll("[data-take], [data-rest]")) button.hidden = false;
    answered(form);
  }

  function answered(form) {
    const here = form.querySelector("[data-answered]");
    if (!here) return;
    const all = questions(form).length;
    here.textContent = here.dataset.answered.replace("{n}", all - openOnes(form).length).replace("{all}", all);
    const rest = form.querySelector("[data-rest]");
    if (!rest) return;
    rest.dataset.name = rest.dataset.name || rest.textContent;
    rest.textContent = filled.length ? rest.dataset.undo : rest.dataset.name;
    rest.disabled = !filled.length && !openOnes(form).length;
  }

  function answerRest(form, verdict) {
    if (filled.length) {
      for (const choice of filled) choice.checked = false;
      filled = [];
    } else {
      filled = openOnes(form).map(function (group) { return group.querySelector('input[value="' + verdict + '"]'); }).filter(Boolean);
      for (const choice of filled) choice.checked = true;
    }
    answered(form);
    saveSoon(form);
  }

  function take(form, button) {
    const box = document.getElementById(button.dataset.take);
    if (!marked) { say(form, button.dataset.none, true); return; }
    box.value = marked;
    say(form, "", false);
    saveSoon(form);
  }

  // From the question in hand to the next one without an answer.
  function moveOn(form, group) {
    const all = questions(form);
    const next = all.slice(all.indexOf(group) + 1).concat(all).find(function (one) { return !answerOf(one); });
    const to = next ? next.querySelector("input[type=radio]") : form.querySelector("button.send");
    to.focus({ preventScroll: true });
    (next || to).scrollIntoView({ block: "nearest" });
  }

  function restore(form) {
    const key = KEPT + ticket(form);
    for (const other of Object.keys(sessionStorage)) {
      if (other.startsWith(KEPT) && other !== key) sessionStorage.removeItem(other);
    }
    let kept = {};
    try { kept = JSON.parse(sessionStorage.getItem(key) || "{}"); } catch (error) { return; }
    for (const box of form.querySelectorAll("textarea")) {
      if (!box.value && kept[box.name]) box.value = kept[box.name];
    }
    for (const choice of form.querySelectorAll("input[type=radio]")) {
      const chosen = form.elements[choice.name].value;
      if (!chosen && choice.value && kept[choice.name] === choice.value) choice.checked = true;
    }
    count();
  }

  function keep(form) {
    const typed = Object.fromEntries(new FormData(form));
    try { sessionStorage.setItem(KEPT + ticket(form), JSON.stringify(typed)); } catch (error) { /* full */ }
  }

  function count() {
    const box = document.querySelector("textarea[data-count]");
    const here = document.querySelector("[data-count-here]");
    if (!box || !here) return;
    const words = box.value.trim() ? box.value.trim().split(/\s+/).length : 0;
    const sentences = (box.value.match(/[.!?\u2026]+(?=\s|$)/g) || []).length;
    let text = box.dataset.count.replace("{words}", words);
    const over = words > Number(box.dataset.mostWords) || box.value.trim().length > Number(box.dataset.most);
    if (over) text = box.dataset.count.replace("{words}", words) + ". " + box.dataset.over;
    else if (words > 60) text = box.dataset.long.replace("{words}", words) + " " + box.dataset.kept;
    else if (sentences > 3) text = box.dataset.sentences.replace("{sentences}", sentences) + " " + box.dataset.kept;
    here.textContent = text;
  }

  function say(form, text, lost) {
    const state = form.querySelector("[data-state]");
    if (!state) return;
    state.textContent = text;
    state.classList.toggle("lost", Boolean(lost));
  }

  function note(name) {
    const form = task();
    const counter = form && field(form, name);
    if (counter) counter.value = String(Number(counter.value) + 1);
  }

  function saveSoon(form) {
    keep(form);
    if (!form.dataset.draft) return;
    clearTimeout(timer);
    timer = setTimeout(function () {
      const state = form.querySelector("[data-state]");
      fetch(form.dataset.draft, { method: "POST", body: new URLSearchParams(new FormData(form)) })
        .then(function (done) {
          if (done.status === 204) say(form, state.dataset.saved, false);
          else say(form, { 401: state.dataset.gone, 404: state.dataset.passed, 409: state.dataset.passed }[done.status] || state.dataset.lost, true);
        })
        .catch(function () { say(form, state.dataset.lost, true); });
    }, EVERY);
  }

  function changed(event) {
    count();
    const form = event.target.closest("form.task");
    if (form) saveSoon(form);
    if (form && event.target.type === "radio" && event.target.closest("fieldset.label")) { filled = []; answered(form); }
  }
  document.addEventListener("input", changed);
  document.addEventListener("change", changed);
  document.addEventListener("selectionchange", function () {
    const chosen = document.getSelection();
    const words = chosen.toString().trim();
    const text = words && chosen.anchorNode.parentElement.closest("[data-quotable]");
    if (text && text.contains(chosen.focusNode)) marked = words;
  });
  document.addEventListener("click", function (event) {
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard.writeText(copy.dataset.copy).then(function () { copy.textContent = copy.dataset.copied; });
    const form = event.target.closest("form.task");
    if (form && event.target.closest("[data-take]")) take(form, event.target.closest("[data-take]"));
    if (form && event.target.closest("[data-rest]")) answerRest(form, event.target.closest("[data-rest]").dataset.rest);
  });
  document.addEventListener("paste", function (event) {
    if (event.target.tagName === "TEXTAREA") note("pastes");
  });
  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState === "hidden") note("away");
  });
  document.addEventListener("submit", function () { clearTimeout(timer); });
  document.addEventListener("keydown", function (event) {
    const form = task();
    if (!form || event.altKey) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.send"));
      return;
    }
    if (event.ctrlKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    if (["TEXTAREA", "INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "radio") return;
    const group = event.target.closest("fieldset") || openOnes(form)[0] || form.querySelector("fieldset");
    const choice = group && group.querySelectorAll('input[type="radio"]')[Number(event.key) - 1];
    if (!choice) return;
    choice.checked = true;
    choice.focus();
    choice.dispatchEvent(new Event("input", { bubbles: true }));
    if (group.classList.contains("label")) moveOn(form, group);
  });
  for (const lost of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(lost, function (event) {
      const form = task();
      const state = form && form.querySelector("[data-state]");
      const gone = event.detail.xhr && event.detail.xhr.status === 401;
      if (state) { keep(form); say(form, gone ? state.dataset.gone : state.dataset.lost, true); }
    });
  }
  document.addEventListener("htmx:afterSettle", function () {
    begin();
    const main = document.getElementById("main");
    if (main && !document.getElementById("faults")) main.focus();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();

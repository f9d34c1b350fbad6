// Keeps a page of a site up to date: it asks for the page again when the server says that there is something new, or when a form was
// changed, and replaces what differs, so that focus, scrolling and what is opened stay. Without it every link and form works, too.
(function () {
  "use strict";
  const body = document.body;
  const connection = document.getElementById("connection"), age = document.getElementById("age");
  let asked = 0; // the number of the last request

  // show replaces what differs by a page of the server, part by part: a large page leaves the browser time to answer its reader in between.
  async function show(html, number) {
    const next = new DOMParser().parseFromString(html, "text/html");
    document.title = next.title;
    body.dataset.moment = next.body.dataset.moment || "";
    body.dataset.events = next.body.dataset.events || ""; // none for a page of the past
    const head = document.querySelector(".site"), main = document.querySelector("main");
    morph(head, next.querySelector(".site"));
    const old = new Map([...main.children].map(function (part) { return [about(part), part]; }));
    let place = main.firstElementChild; // of the next part
    for (const part of [...next.querySelector("main").children]) {
      const same = old.get(about(part));
      old.delete(about(part));
      if (same === undefined) {
        main.insertBefore(part, place);
        continue;
      }
      if (same === place) place = same.nextElementSibling;
      else main.insertBefore(same, place);
      if (same.isEqualNode(part)) continue;
      if (part.getElementsByTagName("*").length > 1000 && !same.querySelector("[open]") && !same.contains(document.activeElement)) same.replaceWith(part); // quicker
      else morph(same, part);
      await new Promise(function (done) { setTimeout(done); });
      if (number !== asked) return; // another page is on its way
    }
    for (const part of old.values()) part.remove();
    prepare();
    tell();
  }

  // about says what a part of a page is about: no two parts of a page are about the same.
  function about(part) {
    const title = part.querySelector("h2");
    return part.tagName + " " + part.className + " " + (title ? title.textContent : "");
  }

  function morph(before, after) {
    if (before && after) {
      Idiomorph.morph(before, after, { morphStyle: "outerHTML", ignoreActiveValue: true, callbacks: { beforeNodeMorphed: kept, beforeNodeRemoved: ours, beforeAttributeUpdated: own } });
    }
  }

  // own keeps which details are open: a reader opened them.
  function own(name, element) {
    return !(name === "open" && element.tagName === "DETAILS");
  }

  // kept leaves the words about the connection alone: they are written here.
  function kept(before) {
    return before !== connection;
  }

  // ours keeps the buttons that are added here: one of them may have the focus.
  function ours(element) {
    return !(element.nodeType === Node.ELEMENT_NODE && element.matches(".command > button"));
  }

  // ask asks for a page, and shows it unless another one was asked for since.
  async function ask(address, options) {
    const number = ++asked;
    const answer = await fetch(address, Object.assign({ credentials: "same-origin", headers: { Accept: "text/html" } }, options));
    const html = await answer.text();
    if (number !== asked) return;
    if (!(answer.headers.get("Content-Type") || "").startsWith("text/html")) throw new Error(html.slice(0, 200));
    await show(html, number);
  }

  function refresh() {
    if (document.querySelector("form[method=post][data-asks]")) return; // its answer is about what was posted
    ask(location.href).catch(lost);
  }

  // Forms ask at once.
  let pending = 0;
  document.addEventListener("input", function (event) {
    const form = event.target.form;
    if (!form || form.dataset.asks === undefined || form.method === "post") return;
    const output = event.target.parentElement.querySelector("output");
    if (output) output.textContent = event.target.value;
    clearTimeout(pending);
    pending = setTimeout(function () { send(form); }, 120);
  });
  document.addEventListener("submit", function (event) {
    const form = event.target;
    if (form.dataset.asks === undefined) return;
    event.preventDefault();
    send(form);
  });

  function send(form) {
    const fields = new URLSearchParams(new FormData(form));
    if (form.method === "post") {
      ask(form.action, { method: "POST", body: fields }).catch(lost);
      return;
    }
    const address = new URL(form.getAttribute("action") || location.pathname, location.href);
    for (const [name, value] of [...fields]) {
      const field = form.elements[name];
      if (value === "" || field.dataset.end !== undefined && value === field.max) fields.delete(name, value);
    }
    address.search = fields;
    history.replaceState(null, "", address);
    ask(address).catch(lost);
  }

  // prepare adds what only scripts can do: a button to copy each command.
  function prepare() {
    for (const command of document.querySelectorAll(".command")) {
      if (command.querySelector("button") || !navigator.clipboard) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async function () {
        await navigator.clipboard.writeText(command.querySelector("pre").textContent);
        button.textContent = "Copied";
      });
      command.append(button);
    }
  }

  // tell says how old what is shown is, and since when there is no connection. Screen readers are told of the latter only.
  let lostSince = 0;
  function tell() {
    if (!connection) return;
    const since = Date.parse((body.dataset.moment || "").split(" ")[0]);
    age.dataset.of = age.dataset.of || age.textContent;
    const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
    set(age, age.dataset.of + (isNaN(since) ? "" : ", " + seconds + " s ago"));
    set(connection, lostSince ? "Connection lost at " + new Date(lostSince).toLocaleTimeString() + ": what is shown is of before." : "");
    body.classList.toggle("lost", lostSince !== 0);
  }

  function set(element, words) {
    if (element.textContent !== words) element.textContent = words;
  }

  function lost() {
    lostSince = lostSince || Date.now();
    tell();
  }

  function found() {
    lostSince = 0;
    tell();
  }

  prepare();
  if (body.dataset.events) {
    const events = new EventSource(body.dataset.events);
    events.addEventListener("open", found);
    events.addEventListener("look", function (event) {
      found();
      if (body.dataset.events && event.data !== body.dataset.moment) refresh();
    });
    events.addEventListener("error", lost);
  }
  setInterval(tell, 5000);
  tell();
})();

package ui

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loadline.dev/loadline/pkg/cli/clitest"
)

// pages are those of the site about the example, by what they are about.
var pages = map[string]string{
	"now":     "./",
	"pod":     "pod?namespace=shop&name=cart-7c9f4-x2k8p",
	"what-if": "pod?namespace=shop&name=cart-7c9f4-x2k8p&request=500&move=node-3",
	"node":    "node?name=node-1",
	"before":  "before",
	"objects": "objects",
	"refused": "pod?namespace=shop&name=nosuch",
}

// reports are the commands that write one.
var reports = map[string][]string{
	"who":             append([]string{"who"}, example()...),
	"who-by-workload": append([]string{"who", "--workload"}, example()...),
	"replay":          {"replay", "-f", filepath.Join("..", "..", "docs", "examples", "epochs-fig4.yaml")},
}

// everyPage returns the addresses of all pages of a site and of all reports, by their names. The browser may open them.
func everyPage(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	site, _ := clitest.Serve(t, append(example(), "-f", filepath.Join("..", "..", "docs", "examples", "checkout.yaml"), "-f", filepath.Join("..", "..", "config", "samples", "sharetree.yaml"))...)
	chrome.open(t, screens[0], site).run(until(settled))
	for name, path := range pages {
		all[name] = at(t, site, path)
	}
	for name, args := range reports {
		path := filepath.Join(t.TempDir(), name+".html")
		if code, _, stderr := clitest.Run(t, "", append(args, "--report", path)...); code != 0 {
			t.Fatal(stderr)
		}
		all["report-"+name] = "file://" + path
	}
	return all
}

// Reports run no script, on any screen.
func TestEveryPageIsAccessibleOnEveryScreen(t *testing.T) {
	t.Parallel()
	for name, address := range everyPage(t) {
		for _, s := range screens {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				p := chrome.open(t, s, address)
				p.accessible()
				p.picture(name + "-" + s.name)
				if name != "refused" { // the browser logs the status
					p.check()
				}
				var scripts int
				p.run(chromedp.Evaluate(`document.scripts.length`, &scripts))
				if scripts > 0 && strings.HasPrefix(address, "file:") {
					t.Errorf("%d scripts", scripts)
				}
			})
		}
	}
}

// undrawn are the pages without a drawing.
var undrawn = []string{"before", "refused"}

// Behind each drawing is a table of its numbers, closed at first.
func TestBehindEveryDrawingIsATable(t *testing.T) { //nolint:tparallel // a browser has six connections to a server, and each page keeps one
	t.Parallel()
	const drawings = `[...document.querySelectorAll("svg, [role=img], .tiles.many")].map(e => {
		const behind = e.closest("section > *").nextElementSibling;
		if (!behind || !behind.matches("details.behind:not([open])")) return "no table behind " + e.outerHTML.slice(0, 200);
		const lacks = ["summary", "caption", "th[scope=col]", "th[scope=row]", "td"].filter(part => !behind.querySelector(part));
		if (e.tagName === "svg") lacks.push(...["title", "desc"].filter(part => !e.querySelector(":scope > " + part)));
		return lacks.length ? e.outerHTML.slice(0, 200) + " lacks " + lacks : "";
	})`
	for name, address := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			var found []string
			chrome.open(t, screens[0], address).run(chromedp.Evaluate(drawings, &found))
			if len(found) == 0 != slices.Contains(undrawn, name) {
				t.Errorf("%d drawings", len(found))
			}
			for _, problem := range found {
				if problem != "" {
					t.Error(problem)
				}
			}
		})
	}
}

// On paper a page is black on white whatever the screen, is no wider than it, and has no controls.
func TestEveryPagePrints(t *testing.T) { //nolint:tparallel // a browser has six connections to a server, and each page keeps one
	t.Parallel()
	const printed = `(() => {
		const problems = [], wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		if (wide > 0) problems.push("the page is wider than the paper by " + wide + " pixels");
		for (const e of document.querySelectorAll("nav, form, fieldset, button, input, select, textarea, header.site, details.behind:not([open])")) if (e.checkVisibility()) problems.push("a control: " + e.outerHTML.slice(0, 120));
		for (const e of document.querySelectorAll("main *")) if (!e.closest("svg") && e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && !["visible", "clip"].includes(getComputedStyle(e).overflowX) && !e.matches(".part, .many *")) problems.push("cut: " + e.outerHTML.slice(0, 120));
		for (const e of document.querySelectorAll("body, .card, .tile:not(.many *)")) if (!["rgb(255, 255, 255)", "rgb(246, 248, 250)"].includes(getComputedStyle(e).backgroundColor)) problems.push("dark: " + e.outerHTML.slice(0, 120));
		return problems;
	})()`
	for name, address := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			p := chrome.open(t, paper, address)
			var problems []string
			p.run(chromedp.Evaluate(printed, &problems))
			for _, problem := range problems {
				t.Error(problem)
			}
			p.picture(name + "-" + paper.name)
		})
	}
}

// at returns the address of a page of the site, without the secret.
func at(t *testing.T, address, path string) string {
	t.Helper()
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	base.RawQuery = ""
	to, err := base.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// The whole page can be walked with the key Tab alone: each link, field and button once, each of them visible when it has the focus.
func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, example()...)
	p := chrome.open(t, screens[0], address)
	p.run(until(settled))
	var all int
	const reachable = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")].filter(e => e.checkVisibility()).length`
	p.run(chromedp.Evaluate(reachable, &all))
	const focused = `(() => { const e = document.activeElement; if (!e || e === document.body) return "";
		e.dataset.visited = (e.dataset.visited || "") + "x"; const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 && r.width > 0 && r.right > 0 ? "seen" : "not seen: " + e.outerHTML.slice(0, 120); })()`
	for i := range all {
		var state string
		p.run(chromedp.KeyEvent("\t"), chromedp.Evaluate(focused, &state))
		if state != "seen" {
			t.Errorf("stop %d: %q", i+1, state)
		}
	}
	var visited int
	p.run(chromedp.Evaluate(`document.querySelectorAll("[data-visited=x]").length`, &visited))
	if visited != all {
		t.Errorf("%d of %d were reached once", visited, all)
	}
	p.run(chromedp.Evaluate(`document.querySelector(".skip").focus(); document.activeElement.click()`, nil))
	var at string
	p.run(chromedp.Evaluate(`location.hash`, &at))
	if at != "#main" {
		t.Errorf("the first link leads to %q", at)
	}
	p.check()
}

// settled is that the plan is there, so that the page does not change any more.
const settled = `document.title.includes("mend")`

// A slider of a pod's page asks at once, the address follows, and the page stays where it was.
func TestASliderAnswersAtOnce(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, example()...)
	p := chrome.open(t, screens[0], address)
	p.run(
		chromedp.Navigate(at(t, address, pages["pod"])), chromedp.WaitVisible(`input[name=request]`, chromedp.ByQuery),
		chromedp.Evaluate(`const slider = document.querySelector("input[name=request]"); slider.focus(); slider.value = 600; slider.dispatchEvent(new Event("input", {bubbles: true}))`, nil),
		until(`location.search.includes("request=600") && document.querySelector("main").textContent.includes("With a request of 600m")`),
	)
	var focus string
	p.run(chromedp.Evaluate(`document.activeElement.name`, &focus))
	if focus != "request" {
		t.Errorf("the focus is on %q", focus)
	}
	p.check()
}

// A filter is in the address, and a slider only where it is not at its end, which is now.
func TestNowIsNotInTheAddress(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, example()...)
	p := chrome.open(t, screens[0], address)
	const change = `((name, value) => { const e = document.querySelector("input[name=" + name + "]"); e.value = value; e.dispatchEvent(new Event("input", {bubbles: true})) })`
	p.run(
		until(settled), chromedp.Evaluate(change+`("q", "cart")`, nil),
		until(`location.search === "?q=cart" && document.title.startsWith("1 of 1")`),
		chromedp.Evaluate(change+`("at", document.querySelector("input[name=at]").min)`, nil),
		until(`location.search.includes("at=") && document.body.dataset.events === ""`),
	)
	p.check()
}

// What a manifest would do is answered without leaving the page.
func TestAManifestIsSimulated(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, example()...)
	p := chrome.open(t, screens[0], address)
	const manifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"shop"},"spec":{"containers":[{"name":"main","image":"x","resources":{"requests":{"cpu":"500m"}}}]}}`
	p.run(
		chromedp.Navigate(at(t, address, "before")), chromedp.WaitVisible("textarea", chromedp.ByQuery),
		chromedp.SetValue("textarea", manifest, chromedp.ByQuery), chromedp.Click("main button[type=submit]", chromedp.ByQuery),
		until(`document.querySelector("main").textContent.includes("shop/new would go to node-")`),
	)
	p.accessible()
	p.picture("before-answer")
	p.check()
}

// A page says that the connection is lost, and marks what it shows.
func TestALostConnectionIsShown(t *testing.T) {
	t.Parallel()
	address, end := clitest.Serve(t, example()...)
	p := chrome.open(t, screens[0], address)
	p.run(until(`document.getElementById("age").textContent.includes("s ago")`))
	p.check()
	end()
	p.run(until(`document.getElementById("connection").textContent.startsWith("Connection lost at") && document.body.classList.contains("lost")`))
	p.accessible()
	p.picture("lost")
}

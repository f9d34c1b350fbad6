package ui

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"loadline.dev/loadline/pkg/cli/clitest"
)

// attempt is what one way of asking for a page gave the script that asked.
type attempt struct {
	Way    string `json:"way"`
	Answer string `json:"answer"`
}

// attempts ask for a page, and for a simulation, in each way that a script has, with the user's cookies.
const attempts = `(async target => {
	const simulate = {method: "POST", body: new URLSearchParams({manifest: "kind: Pod"})};
	const asked = {
		read: [target, {}], quietly: [target, {mode: "no-cors"}], findings: [target + "api/v1/findings", {}],
		write: [target + "before", simulate], "write quietly": [target + "before", {...simulate, mode: "no-cors"}],
	};
	const answers = [];
	for (const [way, [address, how]] of Object.entries(asked)) {
		answers.push(await fetch(address, {credentials: "include", ...how})
			.then(async r => ({way, answer: await r.text()}), e => ({way, answer: ""})));
	}
	for (const [way, tag, attribute] of [["frame", "iframe", "src"], ["object", "object", "data"], ["script", "script", "src"], ["picture", "img", "src"]]) {
		const e = document.createElement(tag);
		const done = new Promise(resolve => { e.onload = e.onerror = resolve });
		e[attribute] = target;
		document.body.append(e);
		await done;
		let answer = "";
		try { answer = e.contentDocument?.body.textContent ?? "" } catch {}
		answers.push({way, answer});
	}
	const events = new EventSource(target + "events", {withCredentials: true});
	answers.push(await new Promise(resolve => {
		events.onerror = () => resolve({way: "events", answer: ""});
		events.onopen = () => resolve({way: "events", answer: "open"});
	}));
	events.close();
	return answers;
})(%q)`

// statuses keeps the status of each answer that a tab gets from a host.
type statuses struct {
	host string
	all  chan int64
}

func (s statuses) listen(event any) {
	if e, ok := event.(*network.EventResponseReceived); ok {
		if from, err := url.Parse(e.Response.URL); err == nil && from.Host == s.host {
			s.all <- e.Response.Status
		}
	}
}

// A browser that has the page's cookie shows a page from elsewhere: from another port of the machine, which a browser takes for the same site, or
// from another name of it, which is another site. And another name is made to lead to the page itself.
func TestAPageFromElsewhereNeitherReadsNorActs(t *testing.T) {
	t.Parallel()
	address, _ := clitest.Serve(t, example()...)
	site := at(t, address, "./")
	host := strings.TrimSuffix(strings.TrimPrefix(site, "http://"), "/")
	chrome.open(t, screens[0], address).run(until(settled))

	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Elsewhere</title><link rel=icon href=data:,><h1>Elsewhere</h1>")
	}))
	t.Cleanup(elsewhere.Close)
	own := chrome.open(t, screens[0], site)
	if got := ask(own, site, host); !strings.Contains(got["read"], "cart-") || !strings.Contains(got["findings"], "cart-") || got["events"] == "" {
		t.Fatalf("the page itself reads %q, and so the attempts show nothing", got)
	}
	otherSite := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for name, from := range map[string]string{"another port": elsewhere.URL, "another site": otherSite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := chrome.open(t, screens[0], from)
			for way, answer := range ask(p, site, host, http.StatusForbidden) {
				if answer != "" {
					t.Errorf("%s gives %.200q", way, answer)
				}
			}
		})
	}
	for name, to := range map[string]struct {
		address string
		status  int64
	}{
		"a link from another site": {site, http.StatusForbidden},
		"a name that leads there":  {strings.Replace(site, "127.0.0.1", rebound, 1), http.StatusMisdirectedRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := chrome.open(t, screens[0], otherSite)
			answer, err := chromedp.RunResponse(p.ctx, chromedp.Evaluate(fmt.Sprintf("location.href = %q", to.address), nil))
			if err != nil {
				t.Fatal(err)
			}
			var shown string
			p.run(chromedp.Text("body", &shown, chromedp.ByQuery))
			if answer.Status != to.status || strings.Contains(shown, "cart-") {
				t.Errorf("it is answered with %d and %.200q", answer.Status, shown)
			}
		})
	}
}

// ask makes all attempts from a tab at the page of a host, and returns what they gave. With statuses, the host answers with none but these.
func ask(p *tab, site, host string, allowed ...int64) map[string]string {
	p.t.Helper()
	got := statuses{host, make(chan int64, 100)}
	chromedp.ListenTarget(p.ctx, got.listen)
	var answers []attempt
	p.run(chromedp.Evaluate(fmt.Sprintf(attempts, site), &answers, awaited))
	all := map[string]string{}
	for _, a := range answers {
		all[a.Way] = a.Answer
	}
	close(got.all)
	for status := range got.all {
		if len(allowed) > 0 && !slices.Contains(allowed, status) {
			p.t.Errorf("an attempt is answered with %d", status)
		}
	}
	return all
}

package ui

import (
	"context"
	"flag"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/live"
)

// large is a cluster of 1,000 nodes with 30,000 pods.
type large struct {
	in      *observed.Input
	options plan.Options
	looks   atomic.Int64
}

func (l *large) Look(context.Context) (*live.Look, error) {
	l.looks.Add(1)
	return &live.Look{Taken: time.Now(), In: l.in, Options: l.options, Judge: func(*explanation.Input) error { return nil }}, nil
}

// running is the address of a page that is served already, as hack/scale --keep has it.
var running = flag.String("page", "", "address of a page of a large cluster that is to be measured in place of one that is made up")

// serve serves the page of a large cluster that is made up, and returns its address.
func serve(b *testing.B) string {
	b.Helper()
	source := &large{options: plan.Options{Max: 20}}
	var err error
	if source.in, err = madeup.Cluster(1000, 30, time.Now()); err != nil {
		b.Fatal(err)
	}
	if source.options.Feasibility, err = feasibility.New(&feasibility.Cluster{Nodes: source.in.Nodes, Pods: source.in.Pods}); err != nil {
		b.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	host := listener.Addr().String()
	_, port, _ := net.SplitHostPort(host)
	own := live.NewOwn(port)
	s := &live.Server{Source: source, Above: observed.DefaultAbove, Access: own, Hosts: []string{host}, Clock: clock.RealClock{}}
	served := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	ctx, stop := context.WithCancel(b.Context())
	go func() { _ = s.Run(ctx) }()
	go func() { _ = served.Serve(listener) }()
	b.Cleanup(func() { stop(); _ = served.Close() })
	return own.Address(host, "")
}

// BenchmarkThousandNodes is the page of 1,000 nodes with 30,000 pods in a browser: the time until the first page shows, that until all of
// it is loaded, that from a change of the filter to the page that it asks for, and the longest task of the browser, in milliseconds.
func BenchmarkThousandNodes(b *testing.B) {
	address := *running
	if address == "" {
		address = serve(b)
	}
	tabCtx, closeTab := chromedp.NewContext(chrome.ctx)
	defer closeTab()
	const watch = `window.longest = 0; new PerformanceObserver(l => { for (const e of l.getEntries()) window.longest = Math.max(window.longest, e.duration) }).observe({type: "longtask", buffered: true})`
	const filter = `new Promise(done => { const began = performance.now(), q = document.querySelector("input[name=q]");
		new MutationObserver((_, o) => { if (document.title !== window.before) { o.disconnect(); done(performance.now() - began - 120) } }).observe(document.documentElement, {subtree: true, childList: true, characterData: true, attributes: true});
		window.before = document.title; q.value = q.value === "app-12" ? "app-1" : "app-12"; q.dispatchEvent(new Event("input", {bubbles: true})) })`
	var paint, first, longest float64
	if err := chromedp.Run(tabCtx,
		chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address), chromedp.WaitVisible(".tiles", chromedp.ByQuery),
		chromedp.Evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`, &paint),
		chromedp.Evaluate(`performance.getEntriesByType("navigation")[0].duration`, &first), chromedp.Evaluate(watch, nil),
		until(settled), // the plan came meanwhile
	); err != nil {
		b.Fatal(err)
	}
	updates := 0.0
	for b.Loop() {
		var update float64
		if err := chromedp.Run(tabCtx, chromedp.Evaluate(filter, &update, awaited)); err != nil {
			b.Fatal(err)
		}
		updates += update
	}
	if err := chromedp.Run(tabCtx, chromedp.Evaluate(`window.longest`, &longest)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(paint, "ms-first-paint")
	b.ReportMetric(first, "ms-first-page")
	b.ReportMetric(updates/float64(b.N), "ms-update")
	b.ReportMetric(longest, "ms-longest-task")
}

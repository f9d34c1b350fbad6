package ui

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screenshots is the folder for a picture of each page; none without it.
var screenshots = flag.String("screenshots", "", "folder to write a picture of each page into")

// patience is how long a browser on a machine in use may take for a page.
const patience = 2 * time.Minute

// rebound is a name that the browser takes for one of this machine.
const rebound = "rebound.test"

//go:embed testdata/axe.min.js
var axe string

// browser is a Chromium that all tests of the package share.
type browser struct{ ctx context.Context } //nolint:containedctx // chromedp keeps its browser there

// start starts a browser.
func start() (*browser, func(), error) {
	path, err := chromium()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(ctx)
	if err := chromedp.Run(ctx); err != nil {
		stop()
		stopAllocator()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return &browser{ctx}, func() { stop(); stopAllocator() }, nil
}

var errNoBrowser = errors.New("there is no Chromium to open pages in: make chromium installs Debian's, as root")

// chromium returns the path of the browser.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// screen is how a page is looked at.
type screen struct {
	name          string
	width, height int64
	dark          bool
	media         string // "" for a screen
}

var screens = []screen{
	{name: "light", width: 1280, height: 900},
	{name: "dark", width: 1280, height: 900, dark: true},
	{name: "phone", width: 390, height: 844},
	{name: "phone-dark", width: 390, height: 844, dark: true},
}

// paper is what a page of A4 with margins of a centimetre is printed on, from a screen that is dark.
var paper = screen{name: "paper", width: 718, height: 1047, dark: true, media: "print"}

// tab is a tab of the browser, with what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps its tab there
	own string          // the host of the page, "" for a file

	mutex    sync.Mutex
	problems []string
}

// open opens a page in a tab of its own.
func (b *browser) open(t *testing.T, s screen, address string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(b.ctx)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	opened := &tab{t: t, ctx: ctx, own: at.Host}
	chromedp.ListenTarget(ctx, opened.listen)
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	opened.run(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetFocusEmulationEnabled(true), // of all tabs, also those behind another
		chromedp.EmulateViewport(s.width, s.height),
		emulation.SetEmulatedMedia().WithMedia(s.media).WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
		chromedp.Navigate(address),
		chromedp.WaitVisible("h1", chromedp.ByQuery),
	)
	return opened
}

// listen keeps errors of the console, and requests to elsewhere.
func (p *tab) listen(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = "an exception: " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			problem = fmt.Sprintf("the console says %s: %v", e.Type, e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			problem = fmt.Sprintf("the log says: %s (%s)", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		to, err := url.Parse(e.Request.URL)
		if err != nil || to.Scheme != "data" && to.Scheme != "file" && to.Host != p.own {
			problem = "a request to " + e.Request.URL
		}
	}
	if problem != "" {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.problems = append(p.problems, problem)
	}
}

// run does something in the tab.
func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatalf("%v (so far: %q)", err, p.seen())
	}
}

func (p *tab) seen() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]string{}, p.problems...)
}

// check fails the test where anything went wrong so far.
func (p *tab) check() {
	p.t.Helper()
	for _, problem := range p.seen() {
		p.t.Error(problem)
	}
}

// until waits for a condition of the page. It asks from time to time, not at each frame: a browser draws none of a tab behind another.
func until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience))
}

// violation is a rule of accessibility that a page breaks.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// accessible fails the test where axe-core finds anything, or the page is wider than the screen.
func (p *tab) accessible() {
	p.t.Helper()
	var broken []violation
	var wide float64
	p.run(
		chromedp.Evaluate(axe+"; undefined", nil),
		chromedp.Evaluate(`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations)`, &broken, awaited),
		chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wide),
	)
	for _, v := range broken {
		for _, n := range v.Nodes {
			p.t.Errorf("%s: %s\n%.300s\n%s", v.ID, v.Help, n.HTML, n.Summary)
		}
	}
	if wide > 0 {
		p.t.Errorf("the page is wider than the screen by %v pixels", wide)
	}
}

// awaited has a promise awaited.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// picture writes a picture of the whole page, if the flag asks for it.
func (p *tab) picture(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	var png []byte
	p.run(chromedp.FullScreenshot(&png, 100))
	if err := os.MkdirAll(*screenshots, 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

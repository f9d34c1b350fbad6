package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// Server serves the live page of a cluster.
type Server struct {
	// Source is what is looked at, and Every how often while a page is open; 0 for once.
	Source Source
	Every  time.Duration
	// Above is the smallest dilation of a finding.
	Above float64
	// Cluster names what is looked at, and Version is that of the program.
	Cluster, Version string
	// Access says who may see what.
	Access Access
	// Hosts are those that requests may be for; none for any, behind a proxy.
	Hosts []string
	// Applied reads manifests for the page that says where they would go.
	Applied Applied
	// Approve approves a proposed change, the Remediation of a name; nil where none can be approved here.
	Approve func(ctx context.Context, name types.NamespacedName) error
	Clock   clock.WithTicker

	// looking is held during a look: a source is asked by one caller at a time.
	looking sync.Mutex
	answers answers
	history History
	// asked is when a page was last asked for, in nanoseconds, and open how many listen for events.
	asked atomic.Int64
	open  atomic.Int64
	// working bounds how many answers are worked out for requests at once, and sending how many are sent as JSON: each may be large.
	working, sending chan struct{}
}

const (
	// attention is for how long a page that was asked for counts as open.
	attention = 2 * time.Minute
	// maxOpen is how many pages hear of events at once, and maxWorking how many answers are worked out at once.
	maxOpen    = 200
	maxWorking = 2
	// maxBody is how long the body of a request may be.
	maxBody = 1 << 20
	// beat is the longest time between two words on the stream of events.
	beat = 15 * time.Second
)

// Run looks at the cluster until the context is done: at once, and then again and again while a page is open.
func (s *Server) Run(ctx context.Context) error {
	ticker := s.Clock.NewTicker(max(s.Every, time.Second))
	defer ticker.Stop()
	for {
		began := s.Clock.Now()
		if err := s.lookOnce(ctx); err != nil && ctx.Err() == nil {
			s.answers.publish(nil, fmt.Sprintf("The look at %s failed: %s.", began.Local().Format(time.TimeOnly), oneLine(err)))
		}
		if s.Every == 0 {
			<-ctx.Done()
			return nil
		}
		// What takes long is done less often: half of the time is left to others.
		again := s.Clock.Now().Add(max(0, s.Clock.Since(began)-s.Every))
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C():
			}
			if now := s.Clock.Now(); !now.Before(again) && s.watched(now) {
				break
			}
		}
	}
}

func (s *Server) lookOnce(ctx context.Context) error {
	s.looking.Lock()
	defer s.looking.Unlock()
	look, err := s.Source.Look(ctx)
	if err != nil {
		return err
	}
	return s.answers.answer(ctx, look, s.Above, &s.history)
}

// watched reports whether a page is open.
func (s *Server) watched(now time.Time) bool {
	return s.open.Load() > 0 || now.UnixNano()-s.asked.Load() < int64(attention)
}

// oneLine returns an error as one printable line.
func oneLine(err error) string {
	return text.Abridge(text.Printable(strings.Join(strings.Fields(err.Error()), " ")), 500)
}

// Handler returns what serves the pages. It is called once.
func (s *Server) Handler() http.Handler {
	s.working, s.sending = make(chan struct{}, maxWorking), make(chan struct{}, maxWorking)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	s.handle(mux, "GET /{$}", s.overview)
	s.handle(mux, "GET /pod", s.pod)
	s.handle(mux, "GET /node", s.node)
	s.handle(mux, "GET /before", s.before)
	s.handle(mux, "POST /before", s.before)
	s.handle(mux, "GET /objects", s.objects)
	s.handle(mux, "POST /approve", s.approve)
	s.handle(mux, "GET /api/v1/findings", s.findings)
	s.handle(mux, "GET /events", s.events)
	if signs, is := s.Access.(signing); is {
		mux.HandleFunc("GET /"+signInPath, signs.account)
		mux.HandleFunc("POST /"+signInPath, signs.signIn)
		mux.HandleFunc("POST /"+signOutPath, signs.signOut)
	}
	return protect(s.Hosts, mux)
}

// request is one that may be answered.
type request struct {
	*http.Request

	writer http.ResponseWriter
	rights findings.Rights
}

// statusError is an error with the status of its answer.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func failed(status int, format string, args ...any) error {
	return &statusError{status, fmt.Errorf(format, args...)}
}

// handle has those served at a pattern who may see pages. An error is shown as a page.
func (s *Server) handle(mux *http.ServeMux, pattern string, serve func(*request) error) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		rights, err := s.Access.Rights(w, r)
		if err != nil {
			s.fail(w, r, refusal(err))
			return
		}
		if rights == nil {
			return // it was answered
		}
		s.asked.Store(s.Clock.Now().UnixNano())
		if err := serve(&request{r, w, rights}); err != nil {
			s.fail(w, r, err)
		}
	})
}

// refusal returns why a sender may not see pages with a status, 403 unless it has another one.
func refusal(err error) error {
	if of := (*statusError)(nil); errors.As(err, &of) {
		return err
	}
	return &statusError{http.StatusForbidden, err}
}

// fail answers with an error: as a page, or as JSON to programs.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if of := (*statusError)(nil); errors.As(err, &of) {
		status = of.status
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": oneLine(err)}) // the client may be gone
		return
	}
	site := s.site("", nil, nil)
	if status == http.StatusForbidden {
		site.Links, site.Events = nil, ""
	}
	write(w, site, page.Page{Title: http.StatusText(status), Summary: sentence(err)}, status)
}

// sentence returns an error as a sentence. One that begins with the name of a field keeps that as it is.
func sentence(err error) string {
	line := strings.TrimSuffix(oneLine(err), ".") + "."
	if first, _, _ := strings.Cut(line, " "); strings.HasSuffix(first, ":") {
		return line
	}
	return text.Capitalized(line)
}

// write writes a page.
func write(w http.ResponseWriter, site *page.Site, p page.Page, status int) {
	var b bytes.Buffer
	if err := site.Encode(&b, p); err != nil {
		http.Error(w, oneLine(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may be gone
}

// serveAsset serves a file that pages load. They have nothing of a cluster, so all may have them.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	content, mediaType := page.Asset(r.PathValue("name"))
	if content == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(content) //nolint:gosec // a file of this program; the client may be gone
}

// site returns what a page has around it, given the address that it is at.
func (s *Server) site(here string, m *moment, filter *page.Form) *page.Site {
	site := &page.Site{Cluster: s.Cluster, Events: "events", Filter: filter}
	for _, l := range []page.SiteLink{{Text: "Now", To: "./"}, {Text: "Before you apply", To: "before"}, {Text: "Pools, replays, profiles, shares", To: "objects"}} {
		l.Here = l.To == here
		site.Links = append(site.Links, l)
	}
	if _, is := s.Access.(signing); is {
		site.Links = append(site.Links, page.SiteLink{Text: "Account", To: signInPath})
	}
	if m != nil {
		site.Moment, site.Problem = m.id, m.problem
	}
	return site
}

// siteAt is site for a page that may be about a moment of the past: such a page does not change.
func (s *Server) siteAt(here string, m *moment, filter *page.Form, q *query) *page.Site {
	site := s.site(here, m, filter)
	if !q.at.IsZero() {
		site.Events = ""
	}
	return site
}

// latest returns the latest moment, or an error that says why there is none. A request may then be answered with what its sender may list
// of that moment.
func (s *Server) latest(r *request) (*moment, error) {
	m, why, _ := s.answers.now()
	if m != nil {
		if err := prepare(r.Context(), r.rights, m.where); err != nil {
			return nil, err
		}
	}
	if _, all := r.rights.(everything); !all { // an error may have names
		m, why = m.withoutReason(), cmp.Or(map[bool]string{true: lookFailed}[why != ""], why)
	}
	switch {
	case m != nil:
		return m, nil
	case why != "":
		return nil, failed(http.StatusServiceUnavailable, "%s", why)
	default:
		return nil, failed(http.StatusServiceUnavailable, "the first look at the cluster is under way: this page follows")
	}
}

// asked returns the answer that a request asks for: as its sender may see it.
func (s *Server) answered(r *request, q *query) (*moment, *findings.Answer, error) {
	m, err := s.latest(r)
	if err != nil {
		return nil, nil, err
	}
	answer := m.answer
	if !q.at.IsZero() {
		first, last := m.look.span()
		if q.at.Before(first) || q.at.After(last.Add(step)) {
			return nil, nil, failed(http.StatusBadRequest, "%s: there are observations from %s to %s", atParameter, first.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
		}
		if q.at.Before(last) {
			err := s.work(r, func() (err error) {
				answer, err = s.answers.at(m.look, q.at, s.Above)
				return err
			})
			if err != nil {
				return nil, nil, err
			}
		}
	}
	if _, all := r.rights.(everything); !all {
		answer = answer.VisibleTo(r.rights)
	}
	return m, answer, nil
}

// work works something out that takes long, when it is its turn.
func (s *Server) work(r *request, do func() error) error { return inTurn(r, s.working, do) }

// inTurn does something for a request when there is a slot for it.
func inTurn(r *request, slots chan struct{}, do func() error) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
		return do()
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// findings answers as kubectl loadline who -o json does.
func (s *Server) findings(r *request) error {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return &statusError{http.StatusBadRequest, err}
	}
	m, answer, err := s.answered(r, &q)
	if err != nil {
		return err
	}
	if answer.Plan == nil {
		return failed(http.StatusServiceUnavailable, "the plan is being worked out")
	}
	return inTurn(r, s.sending, func() error {
		out, err := text.JSON(q.narrow(answer))
		if err != nil {
			return err
		}
		r.writer.Header().Set("Content-Type", "application/json")
		r.writer.Header().Set("Last-Modified", m.look.Taken.UTC().Format(http.TimeFormat))
		_, _ = r.writer.Write(out) // the client may be gone
		return nil
	})
}

// events says whenever there is another moment, until the client goes.
func (s *Server) events(r *request) error {
	if s.open.Add(1) > maxOpen {
		s.open.Add(-1)
		return failed(http.StatusServiceUnavailable, "%d pages are open: close one", maxOpen)
	}
	defer s.open.Add(-1)
	control := http.NewResponseController(r.writer)
	r.writer.Header().Set("Content-Type", "text/event-stream")
	ticker := s.Clock.NewTicker(beat)
	defer ticker.Stop()
	for {
		m, _, changed := s.answers.now()
		id := ""
		if m != nil {
			id = m.id
		}
		// The writer may have had a deadline, for pages.
		if err := control.SetWriteDeadline(s.Clock.Now().Add(2 * beat)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil // the client is gone
		}
		if _, err := fmt.Fprintf(r.writer, "event: look\ndata: %s\n\n", id); err != nil {
			return nil // the client is gone
		}
		if err := control.Flush(); err != nil {
			return nil // the client is gone
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-changed:
		case <-ticker.C():
		}
	}
}

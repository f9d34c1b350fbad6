package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/text"
)

// example returns what the documentation's example cluster looks like, with names changed.
func example(tb testing.TB, rename func(string) string) *Look {
	tb.Helper()
	folder := filepath.Join("..", "..", "docs", "examples", "who")
	in := &observed.Input{}
	content, err := os.ReadFile(filepath.Join(folder, "cluster.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var kind struct{ Kind string }
		var n corev1.Node
		var p corev1.Pod
		if err := errors.Join(yaml.Unmarshal([]byte(document), &kind), yaml.Unmarshal([]byte(document), &n), yaml.Unmarshal([]byte(document), &p)); err != nil {
			tb.Fatal(err)
		}
		switch kind.Kind {
		case "Node":
			n.Name = rename(n.Name)
			in.Nodes = append(in.Nodes, n)
		case "Pod":
			p.Name, p.Spec.NodeName = rename(p.Name), rename(p.Spec.NodeName)
			in.Pods = append(in.Pods, p)
		}
	}
	observations, err := os.ReadFile(filepath.Join(folder, "usage.json"))
	if err != nil {
		tb.Fatal(err)
	}
	reports, err := usage.NewDecoder(bytes.NewReader(observations), usage.Limits{Bytes: 1 << 20, Intervals: usage.MaxIntervals, Objects: 1000}).List()
	if err != nil {
		tb.Fatal(err)
	}
	for i := range reports {
		in.Sights = append(in.Sights, observed.Sight{
			Node: rename(reports[i].Intervals[0].Node), Intervals: reports[i].Intervals, Age: time.Duration(reports[i].AgeSeconds * float64(time.Second)),
		})
	}
	l := lookAt(tb, in)
	l.Options.Max = 0
	served, err := os.ReadFile(filepath.Join(folder, "work.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	l.Workloads = make([]v1alpha1.WorkloadProfile, 1)
	if err := yaml.UnmarshalStrict(served, &l.Workloads[0]); err != nil {
		tb.Fatal(err)
	}
	return l
}

func asItIs(name string) string { return name }

// serving returns a server that has looked once.
func serving(tb testing.TB, l *Look, access Access) (*Server, http.Handler) {
	tb.Helper()
	s := &Server{
		Source: &scene{l}, Above: observed.DefaultAbove, Access: access, Clock: clock.RealClock{}, Version: "v1.2.3", Cluster: "example",
		Applied: func(r io.Reader) (*explanation.Manifests, error) {
			content, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			w := manifest.Workload{Kind: "Pod", Replicas: new(int32(1))}
			if err := yaml.Unmarshal(content, &w.Pod); err != nil {
				return nil, err
			}
			return &explanation.Manifests{Workload: w}, nil
		},
	}
	h := s.Handler()
	if err := s.lookOnce(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s, h
}

// get asks for a page.
func get(tb testing.TB, h http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, path, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheNumbersOfThePageAreThoseOfWho(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	s, h := serving(t, l, admitted{})
	want, err := findings.Find(l.In, &l.Options)
	if err != nil {
		t.Fatal(err)
	}
	l.serve(want)
	encoded, err := text.JSON(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, h, "/api/v1/findings"); got.Code != http.StatusOK || got.Body.String() != string(encoded) {
		t.Errorf("%d: %s", got.Code, cmp.Diff(string(encoded), got.Body.String()))
	}
	page := get(t, h, "/").Body.String()
	if units := "requests take 2.61 times as long: 2.12 times by waiting, 1.23 times by slower service beside StatefulSet ml/train"; !strings.Contains(page, units) {
		t.Errorf("%q is not on the page", units)
	}
	for _, f := range want.Findings {
		if !strings.Contains(page, ">"+text.Times(f.Dilation)+"<") || !strings.Contains(page, f.Pod.Pod) {
			t.Errorf("%s %s is not on the page", f.Pod.Pod, text.Times(f.Dilation))
		}
		pod := get(t, h, "/"+s.situation(&moment{look: l}, want, &query{}).PodLink(f.Pod.Pod)).Body.String()
		if title := f.Pod.Pod + " takes " + text.TimesWithin(f.Dilation, &f.DilationError) + " as long as alone"; !strings.Contains(pod, title) {
			t.Errorf("%q is not on the page of the pod", title)
		}
	}
}

// A node without room has no mean response times: it has weights all the same.
func TestANodeShowsItsLoadLineAndItsWeights(t *testing.T) {
	t.Parallel()
	_, h := serving(t, example(t, asItIs), admitted{})
	for node, wants := range map[string][]string{
		"node-1": {"node-1: 2 of 4 pods slowed down", ">2.62<", "of 2 processors", "etl/sort-3 1.00", "CPU REQUEST", "WEIGHT", "5.67"},
		"node-3": {"node-3: 1 of 2 pods slowed down", "RESPONSE", "The hypervisor ran something else for 13.2% of the time."},
	} {
		page := get(t, h, "/node?name="+node).Body.String()
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is not on the page", node, want)
			}
		}
	}
}

func TestAQueryNarrowsThePage(t *testing.T) {
	t.Parallel()
	_, h := serving(t, example(t, asItIs), admitted{})
	for path, want := range map[string]struct {
		title string
		nodes int
	}{
		"/":                        {"4 of 9 observed pods run slower than they could. 2 changes mend 3 of them.", 3},
		"/?namespace=web":          {"1 of 1 observed pod runs slower than it could. 2 changes mend 1 of them.", 3},
		"/?q=NODE-1":               {"2 of 4 observed pods run slower than they could. 2 changes mend 2 of them.", 1},
		"/?above=2":                {"1 of 9 observed pods runs slower than it could. 2 changes mend 1 of them.", 3},
		"/?q=cart&above=1.2%C3%97": {"1 of 1 observed pod runs slower than it could. 2 changes mend 1 of them.", 1},
		"/?namespace=none":         {"No pod is observed.", 3},
		"/?namespace=ml":           {"None of 1 observed pod is slowed down 1.20× or more.", 3},
	} {
		got := get(t, h, path)
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "<h1>"+want.title+"</h1>") {
			t.Errorf("%s: %d %s", path, got.Code, firstHeading(got.Body.String()))
		}
		if n := strings.Count(got.Body.String(), `<a class="tile`); n != want.nodes {
			t.Errorf("%s: %d nodes, want %d", path, n, want.nodes)
		}
	}
}

// firstHeading returns the title that a page shows.
func firstHeading(page string) string {
	_, rest, _ := strings.Cut(page, "<h1>")
	title, _, _ := strings.Cut(rest, "</h1>")
	return title
}

func TestWrongParametersAreRefused(t *testing.T) {
	t.Parallel()
	_, h := serving(t, example(t, asItIs), admitted{})
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/?above=fast": {400, `above: &#34;fast&#34; is not a number from 1 on`},
		"/?above=NaN":  {400, `above: &#34;NaN&#34; is not a number from 1 on`},
		"/?above=Inf":  {400, `above: &#34;Inf&#34; is not a number from 1 on`},
		"/?above=-2":   {400, `above: &#34;-2&#34; is not a number from 1 on`},
		"/?at=noon":    {400, `at: &#34;noon&#34; is not a time in seconds since 1970`},
		"/?at=1":       {400, `at: there are observations from `},
		"/node?name=x": {404, `There is no node &#34;x&#34;`},
		"/pod?name=x":  {404, `There is no pod &#34;/x&#34;`},
		"/pod?namespace=shop&name=cart-7c9f4-x2k8p&request=-1":                 {400, `request: &#34;-1&#34; is not a number of thousandths`},
		"/pod?namespace=shop&name=cart-7c9f4-x2k8p&limit=99999999999999999999": {400, `limit: &#34;99999999999999999999&#34; is not a number`},
		"/pod?namespace=shop&name=cart-7c9f4-x2k8p&move=nosuch":                {200, `Node nosuch was not observed`},
		"/assets/page.html":      {404, "not found"},
		"/assets/..%2fstyle.css": {404, "not found"},
	} {
		got := get(t, h, path)
		if got.Code != want.status || !strings.Contains(got.Body.String(), want.says) {
			t.Errorf("%s: %d %s", path, got.Code, got.Body.String()[:min(got.Body.Len(), 3000)])
		}
	}
}

func TestASliderGoesBackInTime(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	for i := range l.In.Sights { // the first minute was quiet
		for k := range l.In.Sights[i].Intervals[:6] {
			pods := slices.Clone(l.In.Sights[i].Intervals[k].Pods)
			for p := range pods {
				pods[p].Dilation, pods[p].Wait, pods[p].Throttled = 1, 0, 0
			}
			l.In.Sights[i].Intervals[k].Pods, l.In.Sights[i].Intervals[k].StolenSeconds = pods, 0
		}
	}
	_, h := serving(t, l, admitted{})
	first, last := l.span()
	if !first.Before(last) {
		t.Fatalf("from %v to %v", first, last)
	}
	page := get(t, h, "/").Body.String()
	if !strings.Contains(page, `name="at"`) {
		t.Error("there is no slider")
	}
	before := get(t, h, "/?at="+seconds(first)).Body.String()
	if got := firstHeading(before); !strings.HasPrefix(got, "None of ") {
		t.Errorf("at first: %s", got)
	}
	if now := firstHeading(get(t, h, "/?at="+seconds(last)).Body.String()); now != firstHeading(page) {
		t.Errorf("at last: %s", now)
	}
}

// Where there is no past to choose, the look keeps the last intervals only, and pages show what they did.
func TestOfALookWithoutAPastTheLastIntervalsAreKept(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	if l.kept() != l {
		t.Error("of a look with a past something was dropped")
	}
	const window = 6
	for i := range l.In.Sights {
		v := l.In.Sights[i].Intervals
		end := len(v) - i%2 // not all gauges end an interval at the same time
		l.In.Sights[i].Intervals = v[end-window : end]
	}
	less := l.kept()
	for i := range less.In.Sights {
		was, is := l.In.Sights[i].Intervals, less.In.Sights[i].Intervals
		if len(was) != window || len(is) != 1 || !is[0].End.Equal(was[window-1].End) {
			t.Errorf("%s: %d intervals of %d", less.In.Sights[i].Node, len(is), len(was))
		}
	}
	_, h := serving(t, l, admitted{})
	page := get(t, h, "/").Body.String()
	if strings.Contains(page, `name="at"`) {
		t.Error("there is a slider")
	}
	_, last := l.span()
	if then := firstHeading(get(t, h, "/?at="+seconds(last)).Body.String()); then != firstHeading(page) || strings.HasPrefix(then, "None of ") {
		t.Errorf("now: %s; at last: %s", firstHeading(page), then)
	}
}

func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func TestAManifestIsJudgedBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	_, h := serving(t, example(t, asItIs), admitted{})
	post := func(body url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/before", strings.NewReader(body.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range change {
			c(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: shop}\nspec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}\n"
	got := post(url.Values{"manifest": {pod}})
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "shop/new would go to node-") || !strings.Contains(got.Body.String(), "name: new, namespace: shop") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := post(url.Values{"manifest": {"spec: [\x00"}}); got.Code != http.StatusOK || strings.Contains(got.Body.String(), "<h2 id=\"section-1\">Answer") {
		t.Errorf("of a broken one: %d %s", got.Code, got.Body)
	}
	if got := post(url.Values{"manifest": {strings.Repeat("x", maxBody)}}); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("of a long one: %d", got.Code)
	}
}

// hostileNames are what a name may be that a tenant, or a node, makes up.
var hostileNames = map[string]string{
	"markup":          `<script>alert(1)</script><img src=x onerror=alert(2)>`,
	"quotes":          `"'><a href="javascript:alert(1)">x</a>`,
	"right to left":   "abc\u202egnp.exe\u2066",
	"terminal":        "\x1b]0;pwned\x07\x1b[31mRED",
	"template":        `{{.}}{{template "form"}}`,
	"style":           `x;background:url(//evil.example/)`,
	"an address":      `../../?key=a&namespace=b#c`,
	"something long":  strings.Repeat("long-", 500),
	"nothing visible": "\u200b\ufeff\U000e0041",
}

func TestHostileNamesDoNothingOnAnyPage(t *testing.T) {
	t.Parallel()
	for what, hostile := range hostileNames {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			rename := func(name string) string { return name + hostile }
			s, h := serving(t, example(t, rename), admitted{})
			l := s.answers.latest.look
			situation := s.situation(s.answers.latest, s.answers.latest.answer, &query{})
			paths := []string{"/", "/before", "/objects", "/?q=" + url.QueryEscape(hostile), "/?namespace=" + url.QueryEscape(hostile)}
			for i := range l.In.Pods {
				paths = append(paths, "/"+situation.PodLink(text.QualifiedName(&l.In.Pods[i])))
			}
			for i := range l.In.Nodes {
				paths = append(paths, "/"+situation.NodeLink(l.In.Nodes[i].Name))
			}
			for _, path := range paths {
				got := get(t, h, path)
				if got.Code != http.StatusOK {
					t.Errorf("%s: %d %s", path, got.Code, firstHeading(got.Body.String()))
				}
				harmless(t, path, got.Body.Bytes())
			}
		})
	}
}

// harmless fails the test where a page has an element or an attribute that runs a script, loads anything, or leads elsewhere, or a
// character that cannot be seen.
func harmless(t *testing.T, path string, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode || n.Type == html.CommentNode:
			if plain := strings.Map(func(r rune) rune {
				if r == '\n' || r == '\t' {
					return -1
				}
				return r
			}, n.Data); text.Printable(plain) != plain {
				t.Errorf("%s: a text is %q", path, n.Data)
			}
		case n.Data == "script":
			scripts++
		case slices.Contains([]string{"img", "iframe", "object", "embed", "base"}, n.Data):
			t.Errorf("%s: there is an element %s", path, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.Contains(strings.ToLower(a.Val), "javascript:") && (a.Key == "href" || a.Key == "src" || a.Key == "action") {
				t.Errorf("%s: %s of %s is %q", path, a.Key, n.Data, a.Val)
			}
			if a.Key == "style" && strings.Contains(a.Val, "url(") {
				t.Errorf("%s: style of %s is %q", path, n.Data, a.Val)
			}
			if a.Key == "href" || a.Key == "action" || a.Key == "src" {
				to, err := url.Parse(a.Val)
				if err != nil || to.Host != "" || to.Scheme != "" && to.Scheme != "data" || strings.HasPrefix(a.Val, "/") || strings.Contains(to.Path, "..") {
					t.Errorf("%s: %s of %s leads to %q", path, a.Key, n.Data, a.Val)
				}
			}
		}
	}
	if scripts != 2 {
		t.Errorf("%s: %d scripts", path, scripts)
	}
}

// someRights let pods of some namespaces be listed.
type someRights struct {
	namespaces []string
	nodes      bool
}

func (r someRights) Pods(namespace string) bool { return slices.Contains(r.namespaces, namespace) }
func (r someRights) Nodes() bool                { return r.nodes }

// limited is the access of one who may not see all.
type limited struct{ someRights }

func (l limited) Rights(http.ResponseWriter, *http.Request) (findings.Rights, error) {
	return l.someRights, nil
}
func (limited) May() bool { return false }

func TestNamesOfOtherNamespacesAreOnNoPage(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	_, h := serving(t, l, limited{someRights{namespaces: []string{"shop"}}})
	hidden := []string{"node-2", "node-3"}
	for i := range l.In.Pods {
		if p := &l.In.Pods[i]; p.Namespace != "shop" {
			hidden = append(hidden, p.Name, p.Namespace+"/")
		}
	}
	visible := false
	for _, path := range []string{"/", "/pod?namespace=shop&name=cart-7c9f4-x2k8p", "/node?name=node-1", "/node?name=node-2", "/before", "/objects", "/api/v1/findings", "/pod?namespace=etl&name=sort-2"} {
		page := html.UnescapeString(get(t, h, path).Body.String())
		visible = visible || strings.Contains(page, findings.HiddenPod+" +2.84")
		for _, name := range hidden {
			if strings.Contains(strings.ReplaceAll(page, `There is no node "node-2"`, ""), name) {
				t.Errorf("%s names %s", path, name)
			}
		}
	}
	if !visible {
		t.Error("what pods of other namespaces do is not shown")
	}
}

func TestOnlyTheOwnBrowserGetsThePage(t *testing.T) {
	t.Parallel()
	own := NewOwn("8123")
	s, _ := serving(t, example(t, asItIs), own)
	s.Hosts = []string{"127.0.0.1:8123", "localhost:8123"}
	h := s.Handler()
	at := func(r *http.Request) { r.Host = "127.0.0.1:8123" }
	cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "loadline-8123", Value: own.secret}) }
	header := func(key, value string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(key, value) } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	for name, test := range map[string]struct {
		path   string
		change []func(*http.Request)
		want   int
	}{
		"with the cookie":                           {"/", []func(*http.Request){at, cookie}, 200},
		"by the name localhost":                     {"/", []func(*http.Request){func(r *http.Request) { r.Host = "localhost:8123" }, cookie}, 200},
		"without":                                   {"/", []func(*http.Request){at}, 403},
		"with another cookie":                       {"/", []func(*http.Request){at, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "loadline-8123", Value: "x"}) }}, 403},
		"with a wrong secret":                       {"/?key=x", []func(*http.Request){at, cookie}, 403},
		"by a name that was rebound":                {"/", []func(*http.Request){func(r *http.Request) { r.Host = "evil.example:8123" }, cookie}, 421},
		"a script of another site":                  {"/api/v1/findings", []func(*http.Request){at, cookie, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "cors")}, 403},
		"a script of another port":                  {"/api/v1/findings", []func(*http.Request){at, cookie, header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "no-cors")}, 403},
		"a frame of another site":                   {"/", []func(*http.Request){at, cookie, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")}, 403},
		"an own script":                             {"/api/v1/findings", []func(*http.Request){at, cookie, header("Sec-Fetch-Site", "same-origin")}, 200},
		"a form of another site":                    {"/approve", []func(*http.Request){at, cookie, method(http.MethodPost), header("Sec-Fetch-Site", "cross-site")}, 403},
		"a form of another site and an old browser": {"/approve", []func(*http.Request){at, cookie, method(http.MethodPost), header("Origin", "http://evil.example")}, 403},
		"a form without a body":                     {"/before", []func(*http.Request){at, cookie, method(http.MethodPost), header("Origin", "http://127.0.0.1:8123")}, 200},
		"a method that changes nothing here":        {"/", []func(*http.Request){at, cookie, method(http.MethodDelete)}, 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := get(t, h, test.path, test.change...)
			if got.Code != test.want {
				t.Errorf("%d %s", got.Code, firstHeading(got.Body.String()))
			}
			for key, value := range map[string]string{"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
				if got.Header().Get(key) != value {
					t.Errorf("%s: %q", key, got.Header().Get(key))
				}
			}
			if policy := got.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("policy: %s", policy)
			}
			if got.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Error("other sites may read it")
			}
			if test.want == 403 && strings.Contains(got.Body.String(), "cart") {
				t.Error("it shows names")
			}
		})
	}
}

func TestTheSecretBecomesACookieAndLeavesTheAddress(t *testing.T) {
	t.Parallel()
	own := NewOwn("8123")
	_, h := serving(t, example(t, asItIs), own)
	got := get(t, h, strings.TrimPrefix(own.Address("127.0.0.1:8123", ""), "http://127.0.0.1:8123")+"&q=cart")
	cookies := got.Result().Cookies()
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/?q=cart" || len(cookies) != 1 {
		t.Fatalf("%d, to %q, %v", got.Code, got.Header().Get("Location"), cookies)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value != own.secret || len(c.Value) < 20 {
		t.Errorf("the cookie is %v", c)
	}
	if other := NewOwn("8123"); other.secret == own.secret {
		t.Error("two pages have one secret")
	}
}

func TestAChangeThatWaitsIsApprovedByTheUser(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	r := v1alpha1.Remediation{}
	r.Namespace, r.Name, r.Spec.Policy, r.Spec.Pod.Name = "etl", "sort-2-move", "shared", "sort-2"
	r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonAwaitingApproval}}
	l.Remediations = []v1alpha1.Remediation{r}
	var approved []string
	s, h := serving(t, l, admitted{})
	page := func() string { return get(t, h, "/").Body.String() }
	if p := page(); !strings.Contains(p, "Changes that wait for approval") || strings.Contains(p, ">Approve</button>") {
		t.Error("without a way to approve it is not shown, or can be approved")
	}
	s.Approve = func(_ context.Context, name types.NamespacedName) error {
		if approved = append(approved, name.String()); name.Name != r.Name {
			return errors.New("there is none of that name")
		}
		return nil
	}
	if !strings.Contains(page(), ">Approve</button>") {
		t.Error("it cannot be approved")
	}
	post := func(name string) *httptest.ResponseRecorder {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/approve", strings.NewReader(url.Values{"namespace": {"etl"}, "name": {name}}.Encode()))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w
	}
	if got := post(r.Name); got.Code != http.StatusSeeOther {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := post("nosuch"); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), "Remediation etl/nosuch was not approved: there is none of that name") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if diff := cmp.Diff([]string{"etl/sort-2-move", "etl/nosuch"}, approved); diff != "" {
		t.Error(diff)
	}
	_, h = serving(t, l, limited{someRights{namespaces: []string{"shop"}}})
	if strings.Contains(page(), "sort-2") {
		t.Error("a change of another namespace is shown")
	}
}

func TestThereIsAPageBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	s := &Server{Access: admitted{}, Clock: clock.RealClock{}}
	h := s.Handler()
	if got := get(t, h, "/"); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "The first look at the cluster is under way") || !strings.Contains(got.Body.String(), `data-events="events"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := get(t, h, "/api/v1/findings"); got.Code != http.StatusServiceUnavailable || !json.Valid(got.Body.Bytes()) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	s.answers.publish(nil, "the API server is away")
	if got := get(t, h, "/"); !strings.Contains(got.Body.String(), "The API server is away.") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// failing is a source whose looks fail after the first one.
type failing struct {
	scene
	looks chan struct{}
}

func (f *failing) Look(ctx context.Context) (*Look, error) {
	select {
	case f.looks <- struct{}{}:
		return f.scene.Look(ctx)
	default:
		return nil, errors.New("the gauges\nare away")
	}
}

func TestAStalePageSaysSo(t *testing.T) {
	t.Parallel()
	fake := testingclock.NewFakeClock(time.Now())
	s := &Server{
		Source: &failing{scene{example(t, asItIs)}, make(chan struct{}, 1)}, Every: 10 * time.Second, Above: observed.DefaultAbove, Access: admitted{}, Clock: fake,
	}
	h := s.Handler()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	await := func(is func(*moment) bool) {
		for {
			m, _, changed := s.answers.now()
			if m != nil && is(m) {
				return
			}
			<-changed
		}
	}
	await(func(m *moment) bool { return m.answer.Plan != nil })
	done := make(chan struct{})
	go func() {
		await(func(m *moment) bool { return m.problem != "" })
		close(done)
	}()
	for waiting := true; waiting; {
		get(t, h, "/") // the page is open
		fake.Step(time.Second)
		select {
		case <-done:
			waiting = false
		default:
		}
	}
	page := get(t, h, "/").Body.String()
	if !strings.Contains(page, `class="stale" role="alert"`) || !strings.Contains(page, "failed: the gauges are away.") || !strings.Contains(page, "4 of 9 observed pods") {
		t.Error(page)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestEventsSayWhenThereIsSomethingNew(t *testing.T) {
	t.Parallel()
	s, h := serving(t, example(t, asItIs), admitted{})
	served := httptest.NewServer(h)
	defer served.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, served.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	event := func() string {
		var b bytes.Buffer
		for one := make([]byte, 1); !strings.HasSuffix(b.String(), "\n\n"); {
			if _, err := answer.Body.Read(one); err != nil {
				t.Fatal(err)
			}
			b.Write(one)
		}
		return b.String()
	}
	m, _, _ := s.answers.now()
	if got, want := event(), "event: look\ndata: "+m.id+"\n\n"; got != want {
		t.Errorf("first %q, want %q", got, want)
	}
	s.answers.publish(&moment{look: m.look, answer: m.answer}, "")
	another, _, _ := s.answers.now()
	if got, want := event(), "event: look\ndata: "+another.id+"\n\n"; got != want || another.id == m.id {
		t.Errorf("then %q, want %q", got, want)
	}
}

func TestAHistoryIsOfAnHourAndOfThePodsThatAreThere(t *testing.T) {
	t.Parallel()
	in := &observed.Input{Nodes: []corev1.Node{{}}, Pods: []corev1.Pod{{}}}
	in.Nodes[0].Name = "n"
	in.Pods[0].Name, in.Pods[0].Namespace, in.Pods[0].UID, in.Pods[0].Spec.NodeName = "p", "a", "u", "n"
	begin := time.Unix(1_800_000_000, 0)
	interval := func(k int, dilation float64) usage.Interval {
		end := begin.Add(time.Duration(k) * 10 * time.Second)
		return usage.Interval{
			Node: "n", Start: end.Add(-10 * time.Second), End: end, Seconds: 10, CPUs: 1,
			Pods: []usage.Pod{{UID: "u", Seconds: 10, Dilation: dilation, Threads: 1, Times: usage.Times{Run: 5, Wait: 2.5}}, {UID: "a stranger", Seconds: 10, Dilation: 9}},
		}
	}
	var h History
	for k := 1; k <= 720; k++ { // two hours
		in.Sights = []observed.Sight{{Node: "n", Intervals: []usage.Interval{interval(k-1, 1), interval(k, float64(k))}}}
		h.Add(in, observed.Observe(in, 1.2), begin.Add(2*time.Hour))
	}
	moments := h.Pod("a/p")
	if len(moments) != kept || len(h.pods) != 1 {
		t.Fatalf("%d moments of %d pods", len(moments), len(h.pods))
	}
	last := moments[len(moments)-1]
	if last.Run != 0.5 || last.Wait != 0.25 || last.Dilation < 700 {
		t.Errorf("the last is %+v", last)
	}
	for what, end := range map[string]time.Time{"next year": begin.AddDate(1, 0, 0), "before 1970": time.Unix(-600, 0), "of no time": {}} {
		lie := interval(721, 5)
		lie.Node, lie.End, lie.Start = "liar", end, end.Add(-10*time.Second)
		in.Sights = []observed.Sight{{Node: "liar", Intervals: []usage.Interval{lie}}}
		h.Add(in, observed.Observe(in, 1.2), begin.Add(2*time.Hour))
		lie.Node = "n"
		in.Sights = []observed.Sight{{Node: "n", Intervals: []usage.Interval{lie}}}
		new(History).Add(in, observed.Observe(in, 1.2), begin.Add(2*time.Hour)) // of an own pod
		if n := len(h.Pod("a/p")); n != kept {
			t.Errorf("a node that says that it is %s leaves %d moments", what, n)
		}
	}
	if h.Pod("a/nosuch") != nil {
		t.Error("there is a past of no pod")
	}
}

func TestATrialSaysWhatThePlanSays(t *testing.T) {
	t.Parallel()
	l := example(t, asItIs)
	s, _ := serving(t, l, admitted{})
	m := s.answers.latest
	step := &m.answer.Plan.Steps[0]
	trial, err := m.try(step.Change, s.Above)
	if err != nil || trial.Refused != "" {
		t.Fatal(err, trial)
	}
	if diff := cmp.Diff(step.Pods, trial.Pods); diff != "" || trial.Win != step.Win.Value {
		t.Errorf("win %v, want %v: %s", trial.Win, step.Win.Value, diff)
	}
	change := plan.Change{Action: plan.RaiseRequest, Pod: "etl/nosuch", Node: "node-1"}
	if _, err := m.try(change, s.Above); err == nil || !strings.Contains(err.Error(), "pod etl/nosuch was not observed on node node-1") {
		t.Error(err)
	}
}

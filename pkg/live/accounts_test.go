package live

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/usage"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// tokenFor returns a token of a user by its own claims, as JSON Web Tokens have them.
func tokenFor(user, audience string, expires time.Time) string {
	payload := fmt.Sprintf(`{"sub": %q, "aud": [%q], "exp": %d}`, user, audience, expires.Unix())
	return user + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".signature"
}

func valid(user string) string { return tokenFor(user, usage.Audience, noon.Add(time.Hour)) }

// reviewer is an API server that takes the first part of a token for its user. These are admin, who may list all; shop, who may list the
// pods of that namespace; shopkeeper, who may list its profiles, too; nodes, who may list nodes besides; and stranger, who may not see the
// page.
type reviewer struct {
	down          atomic.Bool
	tokens, lists atomic.Int64
	most, now     atomic.Int64 // questions at once
}

var errDown = errors.New("connection refused")

func (v *reviewer) Recognize(_ context.Context, r access.Request) (access.Decision, *access.User, error) {
	v.tokens.Add(1)
	name, _, _ := strings.Cut(r.Token, ".")
	switch {
	case v.down.Load():
		return 0, nil, errDown
	case r.Audience != usage.Audience || r.Path != Path:
		return 0, nil, fmt.Errorf("asked about %q and %q", r.Audience, r.Path)
	case name == "forged":
		return access.Unauthenticated, nil, nil
	case name == "stranger":
		return access.Forbidden, nil, nil
	}
	return access.Allowed, &access.User{Username: name}, nil
}

func (v *reviewer) MayList(_ context.Context, user *access.User, of access.Resource, namespace string) (bool, error) {
	v.lists.Add(1)
	v.most.Store(max(v.most.Load(), v.now.Add(1)))
	defer v.now.Add(-1)
	if v.down.Load() {
		return false, errDown
	}
	switch user.Username {
	case "admin":
		return true, nil
	case "nodes":
		return of == nodeObjects || of == podObjects && namespace == "shop", nil
	case "shopkeeper":
		return namespace == "shop", nil
	default:
		return of == podObjects && namespace == "shop", nil
	}
}

// fixed is a source of one look.
type fixed struct{ look *Look }

func (f fixed) Look(context.Context) (*Look, error) {
	if f.look == nil {
		return nil, errors.New("its gauge, pod vault/gauge-x, does not answer")
	}
	return f.look, nil
}

// observedPod returns a pod and what a gauge saw of it: it waits for that part of the time.
func observedPod(namespace, name, node string, wait float64) (corev1.Pod, usage.Pod) {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"pod-template-hash": "5d4f"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-5d4f", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: name + "-main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	return p, usage.Pod{
		UID: string(p.UID), Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1 / (1 - wait), CPULoading: 0.9,
		Times: usage.Times{Run: 9 * (1 - wait), Wait: 10 * wait},
	}
}

// twoTenants returns a look at the namespaces shop and vault, which share a node; vault has another one besides.
func twoTenants(t *testing.T) *Look {
	t.Helper()
	in := &observed.Input{}
	for _, name := range []string{"node-both", "node-payroll"} {
		amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("110")}
		in.Nodes = append(in.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}})
	}
	for node, pods := range map[string][][2]string{"node-both": {{"shop", "cart"}, {"vault", "wages"}}, "node-payroll": {{"vault", "payroll"}, {"vault", "bonus"}}} {
		v := usage.Interval{Node: node, Seconds: 10, CPUs: 1}
		for _, of := range pods {
			p, u := observedPod(of[0], of[1], node, 0.5)
			in.Pods, v.Pods = append(in.Pods, p), append(v.Pods, u)
			v.BusySeconds += u.Run
		}
		s := observed.Sight{Node: node, Age: time.Second}
		for i := range 6 {
			v.Start, v.End = noon.Add(time.Duration(i)*10*time.Second), noon.Add(time.Duration(i+1)*10*time.Second)
			s.Intervals = append(s.Intervals, v)
		}
		in.Sights = append(in.Sights, s)
	}
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
	if err != nil {
		t.Fatal(err)
	}
	l := &Look{Taken: noon.Add(time.Minute), In: in, Options: plan.Options{Feasibility: filter}, Judge: func(*explanation.Input) error { return nil }}
	for _, p := range [][2]string{{"shop", "cart-profile"}, {"vault", "wages-profile"}} {
		l.Workloads = append(l.Workloads, v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: p[0], Name: p[1]}})
		l.Replays = append(l.Replays, v1alpha1.TraceReplay{ObjectMeta: metav1.ObjectMeta{Namespace: p[0], Name: p[1] + "-replay"}})
	}
	return l
}

// hidden are the names that the user shop may not list.
var hidden = []string{"vault", "wages", "payroll", "bonus", "-profile", "node-payroll"}

// served is a server of a look for accounts.
type served struct {
	reviewer *reviewer
	clock    *testingclock.FakeClock
	server   *Server
	handler  http.Handler
}

func serve(t *testing.T, look *Look) *served {
	t.Helper()
	s := &served{reviewer: &reviewer{}, clock: testingclock.NewFakeClock(noon)}
	s.server = &Server{
		Source: fixed{look}, Above: 1.2, Cluster: "this cluster", Version: "v1", Access: NewAccounts(s.reviewer, s.clock), Clock: s.clock,
		Applied: func(io.Reader) (*explanation.Manifests, error) { return nil, errors.New("no manifest") },
	}
	s.handler = s.server.Handler()
	if err := s.server.lookOnce(t.Context()); err != nil {
		s.server.answers.publish(nil, "The look failed: "+err.Error()+".")
	}
	return s
}

// send sends a request with headers, given in pairs, and returns the answer.
func (s *served) send(t *testing.T, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *served) get(t *testing.T, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.send(t, http.MethodGet, target, "", headers...)
}

func (s *served) signIn(t *testing.T, token string) *httptest.ResponseRecorder {
	t.Helper()
	return s.send(t, http.MethodPost, "/sign-in", url.Values{"token": {token}}.Encode())
}

func TestATokenIsTakenFromHeadersAndTheCookie(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	for name, headers := range map[string][]string{
		"the header of gauges":      {usage.TokenHeader, valid("admin")},
		"the header Authorization":  {"Authorization", "Bearer " + valid("admin")},
		"the cookie":                {"Cookie", tokenCookie + "=" + valid("admin")},
		"a header before a cookie":  {usage.TokenHeader, valid("admin"), "Cookie", tokenCookie + "=" + valid("forged")},
		"the last of two cookies":   {"Cookie", tokenCookie + "=" + valid("forged"), "Cookie", tokenCookie + "=" + valid("admin")},
		"the header, by the events": {usage.TokenHeader, valid("admin")},
	} {
		if w := s.get(t, "/", headers...); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "payroll") {
			t.Errorf("%s: %d %.300s", name, w.Code, w.Body)
		}
	}
}

func TestWithoutATokenABrowserIsAskedToSignInAndAProgramIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	w := s.get(t, "/pod?namespace=vault&name=payroll")
	for _, want := range []string{`method="post" action="sign-in"`, `type="password" name="token"`, "kubectl create token NAME --namespace NAMESPACE --audience loadline-gauge"} {
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), want) {
			t.Errorf("a browser gets %d without %q: %s", w.Code, want, w.Body)
		}
	}
	if strings.Contains(w.Body.String(), "data-asks") {
		t.Error("a script would send the form")
	}
	w = s.get(t, "/api/v1/findings")
	answer := map[string]string{}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); w.Code != http.StatusUnauthorized || err != nil || !strings.Contains(answer["error"], "no token") {
		t.Errorf("a program gets %d %s", w.Code, w.Body)
	}
	if w := s.get(t, "/events"); w.Code != http.StatusUnauthorized {
		t.Errorf("events: %d", w.Code)
	}
	if w := s.get(t, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("health: %d", w.Code)
	}
	if asked := s.reviewer.tokens.Load() + s.reviewer.lists.Load(); asked != 0 {
		t.Errorf("the API server was asked %d times about no token", asked)
	}
}

func TestAWrongTokenShowsNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		token  string
		status int
		want   string
	}{
		"of no account":         {valid("forged"), http.StatusUnauthorized, "not valid for the audience"},
		"of another audience":   {tokenFor("admin", "api", noon.Add(time.Hour)), http.StatusUnauthorized, "not valid for the audience"},
		"that has expired":      {tokenFor("admin", usage.Audience, noon.Add(-time.Hour)), http.StatusUnauthorized, "not valid for the audience"},
		"that is no token":      {"admin", http.StatusUnauthorized, "not valid for the audience"},
		"without the right":     {valid("stranger"), http.StatusForbidden, "may not get the non-resource URL /v1/ui"},
		"that is much too long": {strings.Repeat("x", access.MaxTokenBytes+1), http.StatusUnauthorized, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, twoTenants(t))
			signedIn := s.signIn(t, test.token)
			for how, w := range map[string]*httptest.ResponseRecorder{
				"signing in": signedIn, "a page": s.get(t, "/", usage.TokenHeader, test.token), "a program": s.get(t, "/api/v1/findings", usage.TokenHeader, test.token),
			} {
				body := w.Body.String()
				if w.Code != test.status || !strings.Contains(body, test.want) || strings.Contains(body, test.token) || strings.Contains(body, "cart") {
					t.Errorf("%s: %d %s", how, w.Code, body)
				}
			}
			if cookies := signedIn.Result().Cookies(); len(cookies) != 0 {
				t.Errorf("it gets the cookies %v", cookies)
			}
		})
	}
}

func TestWhoSignsInGetsACookieForThisPageOnlyAndSignsOut(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	for scheme, secure := range map[string]bool{"https": true, "http": false} {
		w := s.send(t, http.MethodPost, scheme+"://page.example/sign-in", url.Values{"token": {" " + valid("admin") + "\n"}}.Encode())
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./" {
			t.Fatalf("%d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
		}
		c := w.Result().Cookies()[0]
		if c.Value != valid("admin") || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "" || c.Domain != "" || c.Secure != secure || c.MaxAge != 0 {
			t.Errorf("the cookie by %s is %+v", scheme, c)
		}
		cookie := tokenCookie + "=" + c.Value
		if w := s.get(t, "/sign-in", "Cookie", cookie); !strings.Contains(w.Body.String(), "You are signed in as admin") || !strings.Contains(w.Body.String(), `action="sign-out"`) {
			t.Errorf("the account: %d %s", w.Code, w.Body)
		}
	}
	w := s.send(t, http.MethodPost, "/sign-out", "")
	if c := w.Result().Cookies()[0]; w.Code != http.StatusSeeOther || c.Value != "" || c.MaxAge >= 0 || c.Path != "" {
		t.Errorf("signing out: %d %+v", w.Code, c)
	}
	long := valid("admin" + strings.Repeat("x", maxCookie))
	if w := s.signIn(t, long); w.Code != http.StatusRequestEntityTooLarge || len(w.Result().Cookies()) != 0 {
		t.Errorf("a token that no browser keeps: %d %v", w.Code, w.Result().Cookies())
	}
}

func TestNoOtherSiteSignsAUserInOrOut(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	for _, path := range []string{"/sign-in", "/sign-out"} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
			w := s.send(t, http.MethodPost, path, url.Values{"token": {valid("admin")}}.Encode(), headers...)
			if w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
				t.Errorf("%s with %v: %d %v", path, headers, w.Code, w.Result().Cookies())
			}
		}
	}
	if w := s.get(t, "/sign-in?token="+valid("admin")); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
		t.Errorf("a link signs a user in: %d", w.Code)
	}
	if w := s.send(t, http.MethodPost, "/sign-in?token="+valid("admin"), "a=b"); w.Code != http.StatusUnauthorized {
		t.Errorf("a token in an address signs a user in: %d", w.Code)
	}
}

// pages are all that show something.
var pages = []string{
	"/", "/?namespace=vault", "/?q=payroll", "/?above=1.01", "/pod?namespace=shop&name=cart", "/pod?namespace=vault&name=wages", "/node?name=node-both",
	"/node?name=node-payroll", "/before", "/objects", "/api/v1/findings", "/api/v1/findings?namespace=vault", "/sign-in",
}

// shown returns an answer without what the request itself says.
func shown(target, body string) string {
	at, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	for _, values := range at.Query() {
		for _, v := range values {
			if v != "shop" && v != "cart" {
				body = strings.NewReplacer(fmt.Sprintf("&#34;%s&#34;", v), "", fmt.Sprintf("“%s”", v), "", "value="+strconv.Quote(v), "").Replace(body)
			}
		}
	}
	return body
}

func TestAUserSeesTheNamesThatTheUserMayListOnly(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	for _, target := range pages {
		body := s.get(t, target, usage.TokenHeader, valid("shop")).Body.String()
		for _, name := range hidden {
			if at := strings.Index(shown(target, body), name); at >= 0 {
				t.Errorf("%s shows %q: %s", target, name, shown(target, body)[max(0, at-100):at+50])
			}
		}
	}
	all := ""
	for _, target := range pages {
		all += s.get(t, target, usage.TokenHeader, valid("admin")).Body.String()
	}
	for _, name := range append([]string{"cart", "cart-profile", "node-both"}, hidden...) {
		if !strings.Contains(all, name) {
			t.Errorf("who may list all does not see %q", name)
		}
	}
	for target, status := range map[string]int{
		"/pod?namespace=shop&name=cart": 200, "/pod?namespace=vault&name=wages": 403, "/pod?namespace=no&name=wages": 403, "/node?name=node-both": 200,
		"/node?name=node-payroll": 404, "/before": 403,
	} {
		if w := s.get(t, target, usage.TokenHeader, valid("shop")); w.Code != status {
			t.Errorf("%s: %d, want %d", target, w.Code, status)
		}
	}
}

func TestNodesAndProfilesAreShownToWhoMayListThem(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	if body := s.get(t, "/", usage.TokenHeader, valid("nodes")).Body.String(); !strings.Contains(body, "node-payroll") || strings.Contains(body, "wages") {
		t.Error("who may list nodes does not see them, or sees pods")
	}
	if body := s.get(t, "/objects", usage.TokenHeader, valid("shopkeeper")).Body.String(); !strings.Contains(body, "cart-profile") || strings.Contains(body, "wages-profile") {
		t.Error("who may list the profiles of a namespace does not see these alone")
	}
	s.server.answers.publish(nil, "The look failed: pod vault/gauge-x does not answer.")
	if body := s.get(t, "/", usage.TokenHeader, valid("shop")).Body.String(); strings.Contains(body, "gauge-x") || !strings.Contains(body, lookFailed) {
		t.Error("the error of a look is shown to a user who may not list all")
	}
	if body := serve(t, nil).get(t, "/", usage.TokenHeader, valid("shop")).Body.String(); strings.Contains(body, "gauge-x") || !strings.Contains(body, lookFailed) {
		t.Error("the error of the first look is shown to a user who may not list all")
	}
}

func TestAnswersHoldForAMinute(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	ask := func() (tokens, lists int64) {
		s.get(t, "/objects", usage.TokenHeader, valid("shopkeeper"))
		return s.reviewer.tokens.Load(), s.reviewer.lists.Load()
	}
	tokens, lists := ask()
	if tokens != 1 || lists != 2+2+2 { // pods and nodes of all, pods of two namespaces, two kinds of one
		t.Errorf("%d and %d questions, want 1 and 6", tokens, lists)
	}
	s.clock.Step(lifetime - time.Second)
	if t2, l2 := ask(); t2 != tokens || l2 != lists {
		t.Errorf("before a minute was over: %d and %d questions", t2, l2)
	}
	s.clock.Step(time.Second)
	if t2, l2 := ask(); t2 != 2*tokens || l2 != 2*lists {
		t.Errorf("after a minute: %d and %d questions", t2, l2)
	}
}

func TestQuestionsAndAnswersAreBounded(t *testing.T) {
	t.Parallel()
	v := &reviewer{}
	r := newReviews(v, clock.RealClock{})
	var where []place
	for i := range 2 * maxPlaces {
		where = append(where, place{podObjects, fmt.Sprintf("namespace-%d", i)})
	}
	for i := range 2 * maxUsers {
		u, err := r.of(&access.User{Username: fmt.Sprint("user-", i)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.ask(t.Context(), where[:1]); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.byUser.Len(); n != maxUsers {
		t.Errorf("answers about %d users are kept", n)
	}
	v.lists.Store(0)
	u, err := r.of(&access.User{Username: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if may, err := u.ask(t.Context(), where); err != nil || len(may) > maxPlaces || len(u.answers) > maxPlaces {
			t.Errorf("%d answers, %d kept, %v", len(may), len(u.answers), err)
		}
		where = append(where[maxPlaces/2:], where[:maxPlaces/2]...)
	}
	if asked, most := v.lists.Load(), v.most.Load(); asked > 3*maxPlaces || most > askedAtOnce {
		t.Errorf("%d questions, %d at once", asked, most)
	}
}

func TestAnAPIServerThatFailsShowsNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	refused := func(who string) {
		t.Helper()
		for _, target := range pages {
			w := s.get(t, target, usage.TokenHeader, valid(who))
			if w.Code != http.StatusServiceUnavailable && w.Code != http.StatusForbidden && target != "/sign-in" {
				t.Errorf("%s: %d", target, w.Code)
			}
			for _, name := range append([]string{"cart"}, hidden...) {
				if strings.Contains(shown(target, w.Body.String()), name) {
					t.Errorf("%s shows %s: %s", target, name, w.Body)
				}
			}
		}
	}
	s.reviewer.down.Store(true)
	refused("admin") // of whom it has said nothing yet
	s.reviewer.down.Store(false)
	if w := s.get(t, "/sign-in", usage.TokenHeader, valid("shop")); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	s.reviewer.down.Store(true)
	refused("shop") // whose token it has found valid
	s.reviewer.down.Store(false)
	if w := s.get(t, "/", usage.TokenHeader, valid("shop")); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "cart") {
		t.Errorf("once it answers again: %d", w.Code)
	}
}

func TestNothingCanBeChangedByAnAccount(t *testing.T) {
	t.Parallel()
	s := serve(t, twoTenants(t))
	s.server.Approve = func(context.Context, types.NamespacedName) error { t.Error("a change was approved"); return nil }
	if w := s.send(t, http.MethodPost, "/approve", "namespace=shop&name=r", usage.TokenHeader, valid("admin")); w.Code != http.StatusForbidden {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

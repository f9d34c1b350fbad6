package access

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/gauge/source"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// court judges by the text of the token, and counts how often it is asked.
type court struct {
	asked atomic.Int64
	down  atomic.Bool
}

func (c *court) judge(_ context.Context, r Request) (Decision, error) {
	c.asked.Add(1)
	switch {
	case c.down.Load():
		return 0, errors.New("connection refused")
	case strings.HasPrefix(r.Token, "reader"):
		return Allowed, nil
	case strings.HasPrefix(r.Token, "other"):
		return Forbidden, nil
	}
	return Unauthenticated, nil
}

// tokenSaying returns a token that says something of itself, as JSON Web Tokens do.
func tokenSaying(header, payload string) string {
	return header + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".signature"
}

// served is the handler behind the guard.
var served = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("usage")) })

// get sends a request with a header, and returns the response.
func get(t *testing.T, h http.Handler, header, value string) *httptest.ResponseRecorder {
	t.Helper()
	return getFrom(t, "10.0.0.1", h, header, value)
}

// getFrom sends it from an address.
func getFrom(t *testing.T, address string, h http.Handler, header, value string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/usage", http.NoBody)
	r.RemoteAddr = net.JoinHostPort(address, "4711")
	if header != "" {
		r.Header.Set(header, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheAnswerSaysWhatIsWrongWithAToken(t *testing.T) {
	t.Parallel()
	reader := tokenSaying("reader", `{"aud": ["loadline-gauge"]}`)
	tests := map[string]struct {
		header, value string
		status        int
		want          string
	}{
		"a reader by way of the proxy": {usage.TokenHeader, reader, http.StatusOK, "usage"},
		"a reader without a proxy":     {"Authorization", "Bearer " + reader, http.StatusOK, "usage"},
		"a scheme in small letters":    {"Authorization", "bearer " + reader, http.StatusOK, "usage"},
		"a user without the right":     {usage.TokenHeader, tokenSaying("other", `{"aud": "loadline-gauge"}`), http.StatusForbidden, "may not get the non-resource URL /v1/usage"},
		"a wrong token":                {usage.TokenHeader, tokenSaying("wrong", `{"aud": ["loadline-gauge"]}`), http.StatusUnauthorized, `not valid for the audience "loadline-gauge"`},
		"no token":                     {"", "", http.StatusUnauthorized, "no token: send one in the header Loadline-Token"},
		"an empty token":               {usage.TokenHeader, " ", http.StatusUnauthorized, "no token"},
		"a password":                   {"Authorization", "Basic cmVhZGVyOg==", http.StatusUnauthorized, "no token"},
		"a token that is too long":     {usage.TokenHeader, "reader" + strings.Repeat("x", MaxTokenBytes), http.StatusUnauthorized, "longer than 16384 bytes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewGuard(new(court).judge, clock.RealClock{}).Protect("/v1/usage", "loadline-gauge", served)
			w := get(t, h, test.header, test.value)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("the answer is %d %q, want %d with %q", w.Code, w.Body, test.status, test.want)
			}
			if test.status != http.StatusOK && test.value != "" && len(test.value) > 5 && strings.Contains(w.Body.String(), test.value) {
				t.Errorf("the answer shows the token: %q", w.Body)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (test.status == http.StatusUnauthorized) {
				t.Errorf("status %d with the challenge %q", test.status, challenge)
			}
		})
	}
}

func TestAnswersHoldForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := new(court)
		h := NewGuard(c.judge, clock.RealClock{}).Protect("/v1/usage", "", served)
		for _, token := range []string{"reader", "other", "wrong"} {
			for range 10 {
				get(t, h, usage.TokenHeader, token)
			}
		}
		if n := c.asked.Load(); n != 3 {
			t.Errorf("it was asked %d times about three tokens", n)
		}
		time.Sleep(lifetime) //nolint:forbidigo // the clock of the bubble
		get(t, h, usage.TokenHeader, "reader")
		if n := c.asked.Load(); n != 4 {
			t.Errorf("it was asked %d times, want once more when the minute is over", n)
		}
	})
}

func TestAnAnswerIsForOnePathAndOneAudience(t *testing.T) {
	t.Parallel()
	c := new(court)
	g := NewGuard(c.judge, clock.RealClock{})
	for _, path := range []string{"/v1/usage", "/metrics"} {
		for _, audience := range []string{"", "loadline-gauge"} {
			get(t, g.Protect(path, audience, served), usage.TokenHeader, tokenSaying("reader", `{"aud": ["loadline-gauge"]}`))
		}
	}
	if n := c.asked.Load(); n != 4 {
		t.Errorf("it was asked %d times, want 4", n)
	}
}

func TestWithoutTheAPIServerCachedAnswersGoOnUntilTheyExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := new(court)
		h := NewGuard(c.judge, clock.RealClock{}).Protect("/v1/usage", "", served)
		get(t, h, usage.TokenHeader, "reader")
		c.down.Store(true)
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
			t.Errorf("the reader gets %d within the minute", w.Code)
		}
		if w := get(t, h, usage.TokenHeader, "reader2"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" || strings.Contains(w.Body.String(), "refused") {
			t.Errorf("another reader gets %d %q, %v", w.Code, w.Body, w.Header())
		}
		time.Sleep(lifetime) //nolint:forbidigo // the clock of the bubble
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("the reader gets %d after it", w.Code)
		}
		c.down.Store(false)
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
			t.Errorf("the reader gets %d when the API server is back: a failure was remembered", w.Code)
		}
	})
}

// flood sends a thousand wrong tokens from an address, others in each round, and returns the number that were judged. The answers
// to the rest say to try again.
func flood(t *testing.T, address string, h http.Handler, round int) (judged int) {
	t.Helper()
	for i := range 1000 {
		switch w := getFrom(t, address, h, usage.TokenHeader, fmt.Sprint("wrong", address, round, "-", i)); w.Code {
		case http.StatusUnauthorized:
			judged++
		case http.StatusServiceUnavailable:
		default:
			t.Fatalf("a wrong token gets %d", w.Code)
		}
	}
	return judged
}

func TestAFloodOfWrongTokensUsesUpTheBudgetOfItsAddressOnly(t *testing.T) {
	t.Parallel()
	c := new(court)
	now := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	h := NewGuard(c.judge, now).Protect("/v1/usage", "", served)
	for second := range 10 {
		for _, attacker := range []string{"10.0.0.2", "10.0.0.3", "fd00::1"} {
			want := burst
			if second > 0 {
				want = perSecond
			}
			if judged := flood(t, attacker, h, second); judged != want {
				t.Errorf("in second %d, of the tokens from %s %d were judged, want %d", second, attacker, judged, want)
			}
		}
		for _, reader := range []string{"10.0.0.1", "10.0.0.4", "fd00:0:0:1::1"} {
			if w := getFrom(t, reader, h, usage.TokenHeader, fmt.Sprint("reader", second, reader)); w.Code != http.StatusOK {
				t.Errorf("in second %d, a new reader at %s gets %d %q", second, reader, w.Code, w.Body)
			}
		}
		now.SetTime(now.Now().Add(time.Second))
	}
}

func TestAReaderWhoseTokenIsKnownNeedsNoBudget(t *testing.T) {
	t.Parallel()
	now := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	h := NewGuard(new(court).judge, now).Protect("/v1/usage", "", served)
	get(t, h, usage.TokenHeader, "reader")
	now.SetTime(now.Now().Add(lifetime))
	flood(t, "10.0.0.1", h, 0)
	if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
		t.Errorf("in a flood from its own address the reader gets %d %q", w.Code, w.Body)
	}
	if w := get(t, h, usage.TokenHeader, "reader2"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a new one gets %d %q", w.Code, w.Body)
	}
}

func TestWhatATokenSaysOfItselfIsEnoughToRefuseIt(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	expired := now.Add(-leeway - time.Second).Unix()
	tests := map[string]struct {
		token, audience string
		asked           bool
	}{
		"one for the audience":                    {tokenSaying("reader", `{"aud": ["loadline-gauge"], "exp": 1800000001}`), "loadline-gauge", true},
		"one that has expired by a fast clock":    {tokenSaying("reader", fmt.Sprintf(`{"aud": ["loadline-gauge"], "exp": %d}`, expired+1)), "loadline-gauge", true},
		"one that has expired":                    {tokenSaying("reader", fmt.Sprintf(`{"aud": ["loadline-gauge"], "exp": %d}`, expired)), "loadline-gauge", false},
		"one for two audiences":                   {tokenSaying("reader", `{"aud": ["a", "loadline-gauge"]}`), "loadline-gauge", true},
		"one for an audience alone":               {tokenSaying("reader", `{"aud": "loadline-gauge"}`), "loadline-gauge", true},
		"one for another audience":                {tokenSaying("reader", `{"aud": ["https://kubernetes.default.svc"]}`), "loadline-gauge", false},
		"one for no audience":                     {tokenSaying("reader", `{}`), "loadline-gauge", false},
		"one with an audience that is a number":   {tokenSaying("reader", `{"aud": 7}`), "loadline-gauge", false},
		"one whose claims are none":               {tokenSaying("reader", `[]`), "loadline-gauge", false},
		"one that is not encoded":                 {"reader.{}.signature", "loadline-gauge", false},
		"one of four parts":                       {tokenSaying("reader", `{"aud": "loadline-gauge"}`) + ".x", "loadline-gauge", false},
		"one that says nothing of itself":         {"reader", "loadline-gauge", false},
		"such a one for the API server":           {"reader", "", true},
		"one for the API server's own audience":   {tokenSaying("reader", `{"aud": ["https://kubernetes.default.svc"]}`), "", true},
		"one for the API server that has expired": {tokenSaying("reader", fmt.Sprintf(`{"exp": %d}`, expired)), "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := new(court)
			h := NewGuard(c.judge, testingclock.NewFakePassiveClock(now)).Protect("/v1/usage", test.audience, served)
			want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[test.asked]
			for range 2 * burst {
				if w := get(t, h, usage.TokenHeader, test.token); w.Code != want {
					t.Errorf("the answer is %d %q, want %d", w.Code, w.Body, want)
				}
			}
			if asked := c.asked.Load() > 0; asked != test.asked {
				t.Errorf("the API server is asked: %v, want %v", asked, test.asked)
			}
		})
	}
}

// One address may not hold all of the slots while the API server is slow.
func TestAnAddressLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		g := NewGuard(func(ctx context.Context, r Request) (Decision, error) {
			if strings.HasPrefix(r.Token, "reader") {
				return Allowed, nil
			}
			select {
			case <-slow:
			case <-ctx.Done():
			}
			return Unauthenticated, nil
		}, clock.RealClock{})
		h := g.Protect("/v1/usage", "", served)
		var all sync.WaitGroup
		for i := range burst {
			all.Go(func() { getFrom(t, "10.0.0.2", h, usage.TokenHeader, fmt.Sprint("wrong", i)) })
		}
		synctest.Wait()
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
			t.Errorf("meanwhile a new reader gets %d %q", w.Code, w.Body)
		}
		close(slow)
		all.Wait()
	})
}

// With many addresses who wait, each has its turn after a bounded number of others.
func TestWhoWaitsIsJudgedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const attackers = 100
		var judged, before atomic.Int64
		g := NewGuard(func(ctx context.Context, r Request) (Decision, error) {
			if strings.HasPrefix(r.Token, "reader") {
				before.Store(judged.Load())
				return Allowed, nil
			}
			judged.Add(1)
			select {
			case <-time.After(10 * time.Millisecond): // the clock of the bubble
			case <-ctx.Done():
			}
			return Unauthenticated, nil
		}, clock.RealClock{})
		h := g.Protect("/v1/usage", "", served)
		var all sync.WaitGroup
		for i := range attackers * burst {
			all.Go(func() { getFrom(t, fmt.Sprint("10.0.1.", i%attackers), h, usage.TokenHeader, fmt.Sprint("wrong", i)) })
		}
		synctest.Wait()
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
			t.Errorf("a new reader gets %d %q", w.Code, w.Body)
		}
		if most := int64(attackers*atOnceEach + atOnce); before.Load() > most {
			t.Errorf("it was judged after %d others, want %d at most", before.Load(), most)
		}
		all.Wait()
	})
}

func TestWhatIsKeptOfAddressesIsBounded(t *testing.T) {
	t.Parallel()
	h := NewGuard(new(court).judge, clock.RealClock{})
	for i := range 3 * maxBudgets {
		h.budgets.budgetOf(source.Of(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)))
	}
	if n := h.budgets.bySource.Len(); n != maxBudgets {
		t.Errorf("the budgets of %d addresses are kept, want %d", n, maxBudgets)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	g := NewGuard(new(court).judge, clock.RealClock{})
	for i := range 3 * maxRefused {
		for _, token := range []string{"wrong", "other", "reader"} {
			g.remember(keyOf(Request{Token: fmt.Sprint(token, i)}), answer{decision: map[string]Decision{"wrong": Unauthenticated, "other": Forbidden, "reader": Allowed}[token], at: g.clock.Now()})
		}
	}
	if a, r := len(g.allowed.byKey), len(g.refused.byKey); a != maxAllowed || r != maxRefused || g.allowed.order.Len() != a || g.refused.order.Len() != r {
		t.Errorf("%d and %d answers are kept, want %d and %d", a, r, maxAllowed, maxRefused)
	}
	newest := keyOf(Request{Token: fmt.Sprint("reader", 3*maxRefused-1)})
	if _, is := g.allowed.get(newest); !is {
		t.Error("the newest answer is not kept")
	}
	g.remember(newest, answer{decision: Unauthenticated, at: g.clock.Now()}) // the token was revoked
	if _, known := g.remembered(newest); known {
		t.Error("a token that is valid no more is taken for a reader's")
	}
}

func TestRequestsAlikeAreAskedOnceAndOthersAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked, now, most atomic.Int64
		release := make(chan struct{})
		g := NewGuard(func(ctx context.Context, _ Request) (Decision, error) {
			asked.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			select {
			case <-release:
				return Allowed, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, clock.RealClock{})
		h := g.Protect("/v1/usage", "", served)
		var all sync.WaitGroup
		for i := range 10 {
			for range 10 {
				all.Go(func() { get(t, h, usage.TokenHeader, fmt.Sprint("reader", i)) })
			}
		}
		synctest.Wait()
		close(release)
		all.Wait()
		if asked.Load() > 10 || most.Load() > atOnce {
			t.Errorf("it was asked %d times about 10 tokens, %d at once", asked.Load(), most.Load())
		}
	})
}

func TestASilentAPIServerIsWaitedForUntilTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _ Request) (Decision, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		h := NewGuard(silent, clock.RealClock{}).Protect("/v1/usage", "", served)
		begin := time.Now()
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusServiceUnavailable || time.Since(begin) != deadline {
			t.Errorf("the answer is %d after %v", w.Code, time.Since(begin))
		}
	})
}

func TestACallerThatGoesAwayDoesNotEndTheQuestionOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := NewGuard(func(ctx context.Context, _ Request) (Decision, error) {
			select {
			case <-release:
				return Allowed, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, clock.RealClock{})
		impatient, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if d, err := g.decide(impatient, netip.Prefix{}, Request{Token: "reader"}); err == nil {
				t.Errorf("a caller that went away got %v", d)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if d, err := g.decide(t.Context(), netip.Prefix{}, Request{Token: "reader"}); d != Allowed || err != nil {
				t.Errorf("the other caller got %v, %v", d, err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		all.Wait()
	})
}

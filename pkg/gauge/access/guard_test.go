package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

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

// served is what is behind the guard.
var served = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("usage")) })

// get sends a request with a header, and returns the response.
func get(t *testing.T, h http.Handler, header, value string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/usage", http.NoBody)
	if header != "" {
		r.Header.Set(header, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheAnswerSaysWhatIsWrongWithAToken(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header, value string
		status        int
		want          string
	}{
		"a reader by way of the proxy": {usage.TokenHeader, "reader", http.StatusOK, "usage"},
		"a reader without a proxy":     {"Authorization", "Bearer reader", http.StatusOK, "usage"},
		"a scheme in small letters":    {"Authorization", "bearer reader", http.StatusOK, "usage"},
		"a user without the right":     {usage.TokenHeader, "other", http.StatusForbidden, "may not get the non-resource URL /v1/usage"},
		"a wrong token":                {usage.TokenHeader, "wrong", http.StatusUnauthorized, `not valid for the audience "loadline-gauge"`},
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
			get(t, g.Protect(path, audience, served), usage.TokenHeader, "reader")
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

func TestAFloodOfWrongTokensIsBoundedAndShutsNoReaderOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := new(court)
		g := NewGuard(c.judge, clock.RealClock{})
		h := g.Protect("/v1/usage", "", served)
		get(t, h, usage.TokenHeader, "reader")
		refused, busy := 0, 0
		for i := range 10_000 {
			switch w := get(t, h, usage.TokenHeader, fmt.Sprint("wrong", i)); w.Code {
			case http.StatusUnauthorized:
				refused++
			case http.StatusServiceUnavailable:
				busy++
			default:
				t.Fatalf("a wrong token gets %d", w.Code)
			}
		}
		if refused != burst-1 || busy != 10_000-refused {
			t.Errorf("%d were judged at once and %d were not, want %d and the rest", refused, busy, burst-1)
		}
		time.Sleep(lifetime) //nolint:forbidigo // the clock of the bubble
		for i := range 2 * burst {
			get(t, h, usage.TokenHeader, fmt.Sprint("wrong again", i))
		}
		if w := get(t, h, usage.TokenHeader, "reader"); w.Code != http.StatusOK {
			t.Errorf("in a flood the reader gets %d %q", w.Code, w.Body)
		}
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	g := NewGuard(new(court).judge, clock.RealClock{})
	for i := range 3 * maxRefused {
		for _, token := range []string{"wrong", "other", "reader"} {
			g.remember(keyOf(Request{Token: fmt.Sprint(token, i)}), map[string]Decision{"wrong": Unauthenticated, "other": Forbidden, "reader": Allowed}[token])
		}
	}
	if a, r := len(g.allowed.byKey), len(g.refused.byKey); a != maxAllowed || r != maxRefused || g.allowed.order.Len() != a || g.refused.order.Len() != r {
		t.Errorf("%d and %d answers are kept, want %d and %d", a, r, maxAllowed, maxRefused)
	}
	newest := keyOf(Request{Token: fmt.Sprint("reader", 3*maxRefused-1)})
	if _, is := g.allowed.get(newest); !is {
		t.Error("the newest answer is not kept")
	}
	g.remember(newest, Unauthenticated) // the token was revoked
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
			if d, err := g.decide(impatient, Request{Token: "reader"}); err == nil {
				t.Errorf("a caller that went away got %v", d)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if d, err := g.decide(t.Context(), Request{Token: "reader"}); d != Allowed || err != nil {
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

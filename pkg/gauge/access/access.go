// Package access lets callers ask a gauge who have the right to. A caller sends a bearer token; the package asks the API server whose it is
// (TokenReview) and whether its user may get the path (SubjectAccessReview), and passes the request on or answers it with a
// status and a text: 401 without a valid token, 403 without the right, 503 where the API server does not answer.
//
// Answers are kept for a minute, in a bounded number. A token that is not for the audience, or has expired by its own claims, is
// refused without a request. For other tokens that were not allowed lately each source, see the package source, has a bounded
// number of reviews per second and at once, and waiting requests are reviewed in turn: a source that sends wrong tokens uses up its
// own budget and no other's, and readers with recently allowed tokens need none. Requests by way of the API server's proxy share
// one budget, that of the API server's address; it has authenticated them, and lets only those through who may use the proxy.
//
// Tokens are never kept, only their hashes, and never logged.
package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/gauge/source"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// MaxTokenBytes is how long a token may be.
const MaxTokenBytes = 16 << 10

// Request is the question to the API server: may the user of a token get a path?
type Request struct {
	Token string
	// Audience is the audience that the token must be for, empty for that of the API server.
	Audience string
	// Path is that of the URL, such as /v1/usage.
	Path string
}

// Decision is what became of a request.
type Decision int

// The zero Decision is none.
const (
	// Allowed lets the request through.
	Allowed Decision = iota + 1
	// Unauthenticated is for a token that is not valid, or is for another audience.
	Unauthenticated
	// Forbidden is for a user without the right.
	Forbidden
)

// Judge decides about a request. An error means that it could not.
type Judge func(ctx context.Context, r Request) (Decision, error)

// errBusy is for a request that was not judged because too many came.
var errBusy = errors.New("too many requests with unknown tokens")

// Protect returns a handler that passes on to next the requests that the user of the token may get by the path. The token must be
// for an audience, which is empty for the API server's own. A token of neither header is no error of the guard: the answer is 401.
func (g *Guard) Protect(path, audience string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		token, err := tokenOf(r)
		if err != nil {
			unauthenticated(w, err.Error())
			return
		}
		decision, err := g.decide(r.Context(), source.Of(r.RemoteAddr), Request{Token: token, Audience: audience, Path: path})
		switch {
		case errors.Is(err, errBusy):
			unavailable(w, err.Error())
		case err != nil:
			unavailable(w, "the API server does not say whether the token is valid")
		case decision == Allowed:
			next.ServeHTTP(w, r)
		case decision == Forbidden:
			http.Error(w, fmt.Sprintf("forbidden: the user of the token may not get the non-resource URL %s", path), http.StatusForbidden)
		default:
			unauthenticated(w, invalid(audience))
		}
	})
}

// invalid says what kind of token is asked for.
func invalid(audience string) string {
	if audience == "" {
		return "the token is not valid"
	}
	return fmt.Sprintf("the token is not valid for the audience %q", audience)
}

func unauthenticated(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "unauthorized: "+why, http.StatusUnauthorized)
}

// retryAfter is when to try again after a 503.
const retryAfter = 2 * time.Second

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	http.Error(w, "unavailable: "+why, http.StatusServiceUnavailable)
}

// tokenOf returns the token of a request. The errors do not show it.
func tokenOf(r *http.Request) (string, error) {
	token := strings.TrimSpace(r.Header.Get(usage.TokenHeader))
	if token == "" {
		scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "Bearer") {
			token = strings.TrimSpace(credentials)
		}
	}
	switch {
	case token == "":
		return "", fmt.Errorf("no token: send one in the header %s, or as Authorization: Bearer", usage.TokenHeader)
	case len(token) > MaxTokenBytes:
		return "", fmt.Errorf("the token is longer than %d bytes", MaxTokenBytes)
	}
	return token, nil
}

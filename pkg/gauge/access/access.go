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

	authenticationv1 "k8s.io/api/authentication/v1"

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

// User is a user as the API server describes one.
type User = authenticationv1.UserInfo

// Recognize is a Judge that returns whose an allowed token is, too.
type Recognize func(ctx context.Context, r Request) (Decision, *User, error)

// RefusedError says why a request was refused. Its text shows no token.
type RefusedError struct {
	// Status is that of HTTP: 401, 403 or 503.
	Status int
	Why    string
}

func (e *RefusedError) Error() string { return e.Why }

// errBusy is for a request that was not judged because too many came.
var errBusy = errors.New("too many requests with unknown tokens")

// Protect returns a handler that passes on to next the requests that the user of the token may get by the path. The token must be
// for an audience, which is empty for the API server's own. A token of neither header is no error of the guard: the answer is 401.
func (g *Guard) Protect(path, audience string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		token, err := TokenOf(r)
		if err != nil {
			unauthenticated(w, err.Error())
			return
		}
		_, err = g.User(r.Context(), r.RemoteAddr, Request{Token: token, Audience: audience, Path: path})
		switch refused := (*RefusedError)(nil); {
		case err == nil:
			next.ServeHTTP(w, r)
		case !errors.As(err, &refused), refused.Status == http.StatusServiceUnavailable:
			unavailable(w, err.Error())
		case refused.Status == http.StatusForbidden:
			http.Error(w, "forbidden: "+refused.Why, http.StatusForbidden)
		default:
			unauthenticated(w, refused.Why)
		}
	})
}

// User returns whose the token of a request from a remote address (HOST:PORT) is, if its user may get the path; nil for a guard that
// does not learn that. Otherwise the error is a *RefusedError.
func (g *Guard) User(ctx context.Context, remote string, r Request) (*User, error) {
	if len(r.Token) > MaxTokenBytes {
		return nil, &RefusedError{http.StatusUnauthorized, tooLong}
	}
	a, err := g.answer(ctx, source.Of(remote), r)
	switch {
	case errors.Is(err, errBusy):
		return nil, &RefusedError{http.StatusServiceUnavailable, err.Error()}
	case err != nil:
		return nil, &RefusedError{http.StatusServiceUnavailable, "the API server does not say whether the token is valid"}
	case a.decision == Allowed:
		return a.user, nil
	case a.decision == Forbidden:
		return nil, &RefusedError{http.StatusForbidden, "the user of the token may not get the non-resource URL " + r.Path}
	default:
		return nil, &RefusedError{http.StatusUnauthorized, invalid(r.Audience)}
	}
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

// tooLong says what is wrong with a token that is too long.
var tooLong = fmt.Sprintf("the token is longer than %d bytes", MaxTokenBytes)

// ErrNoToken says that a request has no token.
var ErrNoToken = fmt.Errorf("no token: send one in the header %s, or as Authorization: Bearer", usage.TokenHeader)

// TokenOf returns the token that the headers of a request have. The errors do not show it.
func TokenOf(r *http.Request) (string, error) {
	token := strings.TrimSpace(r.Header.Get(usage.TokenHeader))
	if token == "" {
		scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, "Bearer") {
			token = strings.TrimSpace(credentials)
		}
	}
	switch {
	case token == "":
		return "", ErrNoToken
	case len(token) > MaxTokenBytes:
		return "", errors.New(tooLong)
	}
	return token, nil
}

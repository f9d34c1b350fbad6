package live

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/report/page"
)

// Path is the non-resource URL that a user must have the right to get, to see pages.
const Path = "/v1/ui"

// The pages of those who sign in, and the field of the form.
const (
	signInPath     = "sign-in"
	signOutPath    = "sign-out"
	tokenParameter = "token"
)

// tokenCookie is the cookie that holds the token of a browser's user, and maxCookie how long a token may be there, in bytes: browsers keep
// no longer cookie than of 4 KiB.
const (
	tokenCookie = "loadline-token"
	maxCookie   = 4000
)

// Accounts is the access of the accounts of a cluster to a page that runs there. A request has a token for the audience of gauges, in the
// header Loadline-Token, as Authorization: Bearer, or in a cookie, which those get who sign in. Its user must have the right to get [Path],
// and sees the names of what the API server would let that user list. The token is kept by the browser of its user only.
type Accounts struct {
	guard   *access.Guard
	reviews *reviews
}

// signing is an Access that users sign in to.
type signing interface {
	account(w http.ResponseWriter, r *http.Request)
	signIn(w http.ResponseWriter, r *http.Request)
	signOut(w http.ResponseWriter, r *http.Request)
}

// NewAccounts returns the access of the accounts that a reviewer can tell from others.
func NewAccounts(reviewer Reviewer, now clock.PassiveClock) *Accounts {
	return &Accounts{guard: access.NewRecognizing(reviewer.Recognize, now), reviews: newReviews(reviewer, now)}
}

// May reports that nothing can be changed: a request has the rights of the page's server, which has none.
func (*Accounts) May() bool { return false }

// Rights returns what the user of a token may see. A browser without one is asked to sign in.
func (a *Accounts) Rights(w http.ResponseWriter, r *http.Request) (findings.Rights, error) {
	user, err := a.user(r, tokenOf(r))
	if err != nil {
		return nil, refuse(w, r, err)
	}
	of, err := a.reviews.of(user)
	if err != nil {
		return nil, err
	}
	rights, err := of.everywhere(r.Context())
	if err != nil {
		return nil, err
	}
	server.Admit(w, r)
	return rights, nil
}

// user returns the user of a token. The error is an *access.RefusedError.
func (a *Accounts) user(r *http.Request, token string) (*access.User, error) {
	if token == "" {
		return nil, &access.RefusedError{Status: http.StatusUnauthorized, Why: access.ErrNoToken.Error()}
	}
	return a.guard.User(r.Context(), r.RemoteAddr, access.Request{Token: token, Audience: usage.Audience, Path: Path})
}

// tokenOf returns the token of a request: of its headers, or else of the cookie; empty for none. Only a token that is too long is an error of
// the headers, and is refused as such a token.
func tokenOf(r *http.Request) string {
	token, err := access.TokenOf(r)
	switch {
	case err == nil:
		return token
	case !errors.Is(err, access.ErrNoToken):
		return strings.Repeat("-", access.MaxTokenBytes+1)
	}
	for _, c := range r.CookiesNamed(tokenCookie) {
		token = c.Value
	}
	return token
}

// refuse asks a browser to sign in, and returns the reason to all others.
func refuse(w http.ResponseWriter, r *http.Request, why error) error {
	refused := &access.RefusedError{Status: http.StatusServiceUnavailable, Why: "the token could not be judged"}
	_ = errors.As(why, &refused)
	program := strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/events"
	if program || r.Method != http.MethodGet || refused.Status == http.StatusServiceUnavailable {
		return &statusError{refused.Status, refused}
	}
	problem := refused.Why
	if tokenOf(r) == "" {
		problem = ""
	}
	askToSignIn(w, refused.Status, problem)
	return nil
}

// askToSignIn writes the page with the form, and what was wrong with the last token, if there was one.
func askToSignIn(w http.ResponseWriter, status int, problem string) {
	p := page.Page{Title: "Sign in to Loadline", Sections: []page.Section{{
		Title: "With a token of an account",
		Text: "A token shows who you are, and you see the names of what its account may list. This makes one that lasts for an hour, and that only " +
			"Loadline takes:\n\nkubectl create token NAME --namespace NAMESPACE --audience " + usage.Audience + "\n\n" +
			"NAME is a service account with the right to get the non-resource URL " + Path + ", such as loadline-viewer of the namespace that Loadline is in.",
		Form: &page.Form{
			To: signInPath, Post: true, Leaves: true, Label: "Sign in", Submit: "Sign in",
			Fields: []page.Field{{Type: page.SecretField, Name: tokenParameter, Label: "Token"}},
		},
	}}}
	if problem != "" {
		p.Summary = "Not signed in: " + problem + "."
	}
	write(w, &page.Site{}, p, status)
}

// account shows whose token a browser has, to sign out.
func (a *Accounts) account(w http.ResponseWriter, r *http.Request) {
	user, err := a.user(r, tokenOf(r))
	if err != nil {
		if err := refuse(w, r, err); err != nil {
			write(w, &page.Site{}, page.Page{Title: http.StatusText(http.StatusServiceUnavailable), Summary: sentence(err)}, http.StatusServiceUnavailable)
		}
		return
	}
	server.Admit(w, r)
	write(w, &page.Site{Links: []page.SiteLink{{Text: "Now", To: "./"}, {Text: "Account", To: signInPath, Here: true}}}, page.Page{
		Title: "Account", Summary: "You are signed in as " + user.Username + ".",
		Sections: []page.Section{{Title: "Another account", Form: &page.Form{To: signOutPath, Post: true, Leaves: true, Label: "Sign out", Submit: "Sign out"}}},
	}, http.StatusOK)
}

// signIn gives the browser of a user the cookie. A user without the right gets none.
func (a *Accounts) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 2*access.MaxTokenBytes)
	token := strings.TrimSpace(r.PostFormValue(tokenParameter))
	if _, err := a.user(r, token); err != nil {
		refused := &access.RefusedError{Status: http.StatusServiceUnavailable}
		_ = errors.As(err, &refused)
		askToSignIn(w, refused.Status, cmp.Or(map[bool]string{true: "no token was given"}[token == ""], err.Error()))
		return
	}
	if len(token) > maxCookie {
		askToSignIn(w, http.StatusRequestEntityTooLarge, "browsers keep no token that is this long")
		return
	}
	server.Admit(w, r)
	setCookie(w, r, token, 0)
	back(w)
}

// signOut has the browser forget the cookie.
func (*Accounts) signOut(w http.ResponseWriter, r *http.Request) {
	setCookie(w, r, "", -1)
	back(w)
}

// setCookie sets the cookie, or removes it with a negative age. It has no path: a browser takes the folder of the form's address, which is
// that of the page, wherever a proxy has it.
func setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is secure where the browser came by HTTPS
		Name: tokenCookie, Value: value, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// back leads to the overview. The address stays relative, which http.Redirect would not leave it.
func back(w http.ResponseWriter) {
	w.Header().Set("Location", "./")
	w.WriteHeader(http.StatusSeeOther)
}

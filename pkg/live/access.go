package live

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	"loadline.dev/loadline/pkg/evaluate/findings"
)

// Access says who may see pages, and what of them.
type Access interface {
	// Rights returns what the sender of a request may see. Without an error it answers the request itself where it returns none: it asks
	// who the sender is, say. The error says why the sender is refused.
	Rights(w http.ResponseWriter, r *http.Request) (findings.Rights, error)
	// May reports whether the sender may change anything.
	May() bool
}

// errRefused says that a request is not one of a page of ours.
var errRefused = errors.New("open the address that kubectl loadline ui printed: this page is for the one who started it")

// Own is the access of one user to a page on the own machine: the address that is printed has a secret, which becomes a cookie that the
// browser sends to this page only.
type Own struct {
	secret string
	cookie string
}

// NewOwn returns the access to a page that is served on a port.
func NewOwn(port string) *Own { return &Own{secret: rand.Text(), cookie: "loadline-" + port} }

// keyParameter is the parameter of the address that is printed.
const keyParameter = "key"

// Address returns the address to open, of the overview at a host and port, of a namespace unless it is empty.
func (o *Own) Address(host, namespace string) string {
	query := url.Values{keyParameter: {o.secret}}
	if namespace != "" {
		query.Set(namespaceParameter, namespace)
	}
	return (&url.URL{Scheme: "http", Host: host, Path: "/", RawQuery: query.Encode()}).String()
}

// Rights lets all be seen by those who have the secret.
func (o *Own) Rights(w http.ResponseWriter, r *http.Request) (findings.Rights, error) {
	if given := r.URL.Query().Get(keyParameter); r.Method == http.MethodGet && given != "" {
		if !o.is(given) {
			return nil, errRefused
		}
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: it is for plain HTTP on this machine
			Name: o.cookie, Value: o.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		rest := r.URL.Query()
		rest.Del(keyParameter)
		clean := url.URL{Path: r.URL.Path, RawQuery: rest.Encode()}
		http.Redirect(w, r, clean.String(), http.StatusSeeOther)
		return nil, nil
	}
	for _, c := range r.CookiesNamed(o.cookie) {
		if o.is(c.Value) {
			return everything{}, nil
		}
	}
	return nil, errRefused
}

// May reports that the user may do what the own rights allow.
func (*Own) May() bool { return true }

func (o *Own) is(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(secret), []byte(o.secret)) == 1
}

// everything are the rights of one who sees all that was looked at.
type everything struct{}

func (everything) Pods(string) bool { return true }
func (everything) Nodes() bool      { return true }

package live

import (
	"net/http"
	"slices"
)

// contentPolicy lets a page load its own files and nothing else, and no page frame it. Attributes may say how an element looks: bars have a
// width, and charts have colours.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect returns a handler that keeps pages of other sites out: it refuses requests that other sites made the browser send, and, where hosts
// are given, requests for another host, to which a name may have been rebound.
func protect(hosts []string, next http.Handler) http.Handler {
	posts := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case len(hosts) > 0 && !slices.Contains(hosts, r.Host):
			http.Error(w, "this page has another address", http.StatusMisdirectedRequest)
		case foreign(r):
			http.Error(w, "another site's page asked for this one", http.StatusForbidden)
		default:
			posts.Handler(next).ServeHTTP(w, r)
		}
	})
}

// foreign reports whether a page of another origin made the browser send a request, but for a link that was followed: that opens a page in a
// tab of its own, without the cookie.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	default:
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" || r.Method != http.MethodGet
	}
}

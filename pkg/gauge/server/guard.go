package server

import "net/http"

// Guard returns a handler that lets in those only who may get a path; see the package access.
type Guard func(path string, next http.Handler) http.Handler

// connectionHeader says in an answer whether the connection stays open.
const connectionHeader = "Connection"

// Protect has the guard protect a handler, and keeps the connections of requests that it lets in: they no longer count as strangers'.
func (g Guard) Protect(path string, next http.Handler) http.Handler {
	return g(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Admit(w, r)
		next.ServeHTTP(w, r)
	}))
}

// Admit keeps the connection of a request, as Protect does. It is for handlers that let requests in by themselves, before they answer.
func Admit(w http.ResponseWriter, r *http.Request) {
	w.Header().Del(connectionHeader)
	admit(r.Context())
}

// refusing returns a handler that ends connections with their answers, unless a guard lets the request in, and counts that.
func refusing(next http.Handler, refused func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(connectionHeader, "close")
		next.ServeHTTP(w, r)
		if w.Header().Get(connectionHeader) != "" {
			refused()
		}
	})
}

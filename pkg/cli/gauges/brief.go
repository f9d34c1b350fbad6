package gauges

import (
	"io"
	"net/http"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// maxRefusal is how much is read of an answer that is none, in bytes: of it an excerpt is shown.
const maxRefusal = 64 << 10

// brief is a transport that lets no more be read of answers that say that something is wrong than it takes to show them: the client of
// the API server reads these as a whole, and by way of its proxy they are from a node.
type brief struct{ next http.RoundTripper }

// RoundTrip returns the answer to a request.
func (b *brief) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxRefusal), answer.Body}
	}
	return answer, err
}

// excerptError is an error that prints as an excerpt.
type excerptError struct{ error }

func excerpt(err error) error { return excerptError{err} }

func (e excerptError) Error() string { return usage.Excerpt(e.error.Error()) }
func (e excerptError) Unwrap() error { return e.error }

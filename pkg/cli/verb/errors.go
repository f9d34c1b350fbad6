package verb

import (
	"errors"
	"fmt"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

const (
	// longestError is the number of characters printed of one error by itself: those of API
	// servers, gauges and decoders may be of any length.
	longestError = 2000
	// mostErrors is how many lines are printed of an error that holds others.
	mostErrors = 20
)

// ErrorLines returns the text of an error in lines to print. [errors.Join] makes lines, and nothing
// else does: a line end in the text of an error, which may be from outside, is escaped.
func ErrorLines(err error) []string {
	lines := strings.Split(sayError(err), "\n")
	if more := len(lines) - mostErrors; more > 0 {
		lines = append(lines[:mostErrors], "and "+text.Counted(more, "more line"))
	}
	return lines
}

// Below adds a line below the text of an error.
func Below(err error, format string, args ...any) error {
	return errors.Join(err, fmt.Errorf(format, args...))
}

// OneLine returns the text of an error on one line.
func OneLine(err error) string { return strings.Join(ErrorLines(err), "; ") }

// sayError returns the text of an error, with line ends only where [errors.Join] put them.
func sayError(err error) string {
	rest := err.Error()
	_, joins := err.(interface{ Unwrap() []error })
	var said strings.Builder
	for _, inner := range wrapped(err) {
		before, after, found := strings.Cut(rest, inner.Error())
		if !found || inner.Error() == "" {
			continue
		}
		if joins && before == "\n" {
			said.WriteString(before)
		} else {
			said.WriteString(sayText(before))
		}
		said.WriteString(sayError(inner))
		rest = after
	}
	return said.String() + sayText(rest)
}

func sayText(s string) string { return text.Abridged(text.Printable(s), longestError) }

// wrapped returns the errors that an error is made of, in their order.
func wrapped(err error) []error {
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return []error{inner}
		}
	}
	return nil
}

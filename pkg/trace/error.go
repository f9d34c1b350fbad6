package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says what is wrong with a trace, and where.
type Error struct {
	// File is the name the caller gave the input.
	File string
	// Line is the line in the decompressed input, from 1; 0 if the whole
	// file is meant.
	Line int
	// Column is the name of the offending column; empty if the whole line is
	// meant.
	Column string
	// Value is what the column holds.
	Value string
	// Rule is what the value breaks and, where there is one, the remedy.
	Rule string
	// Err is the cause when reading itself failed (a full disk, a damaged
	// gzip stream); nil when the content is at fault.
	Err error
}

// Error formats e as
//
//	pods.csv, line 88,120: creation_time "x": must be a whole number from 0 to 9,223,372,036
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(", line " + grouped(int64(e.Line)))
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": %s %q", e.Column, abridged(e.Value))
	}
	b.WriteString(": " + e.Rule)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause, if reading itself failed.
func (e *Error) Unwrap() error { return e.Err }

// abridged keeps a value short enough for one line of an error message.
func abridged(value string) string {
	const limit = 40
	if runes := []rune(value); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return value
}

// grouped writes n ≥ 0 with thousands separators: 88120 is "88,120".
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Version is the version of the reports that this package writes and reads.
const Version = 1

// Limit is how many bytes a report has at most: what Kubernetes keeps of a
// termination message.
const Limit = 4096

// ErrTruncated is the error of a report whose end is missing.
var ErrTruncated = errors.New("the report is cut off")

// A Report is one of the types of this package.
type Report interface {
	Run | Watch | Calibration | PressureCalibration | Load
	validate() error
}

// Encode returns a report as one line of JSON with no line break. A report that its
// Parse function would refuse, or of more than [Limit] bytes, is an error. The
// version is [Version], whatever the report says.
func Encode[T Report](r T) ([]byte, error) {
	switch r := any(&r).(type) {
	case *Run:
		r.Version = Version
	case *Watch:
		r.Version = Version
	case *Calibration:
		r.Version = Version
	case *PressureCalibration:
		r.Version = Version
	case *Load:
		r.Version = Version
	}
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("this is no report: %w", err)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(encoded) > Limit {
		return nil, fmt.Errorf("the report has %d bytes; a termination message has %d at most", len(encoded), Limit)
	}
	return encoded, nil
}

// parse reads one report and nothing else.
func parse[T Report](message string) (r T, err error) {
	var none T
	if strings.TrimSpace(message) == "" {
		return none, errors.New("the report is empty: the program ended without one")
	}
	var head struct{ Version *int }
	if err := json.Unmarshal([]byte(message), &head); err != nil {
		return none, explain(err, message)
	}
	if head.Version == nil {
		return none, errors.New("version: there is none, so this is no report")
	}
	if *head.Version != Version {
		return none, fmt.Errorf("version: %d is not %d: the image of the probe is of another release", *head.Version, Version)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(message)))
	decoder.DisallowUnknownFields() // a report of another kind
	if err := decoder.Decode(&r); err != nil {
		return none, explain(err, message)
	}
	if err := r.validate(); err != nil {
		return none, err
	}
	return r, nil
}

// explain says what is wrong with JSON in terms of reports.
func explain(err error, message string) error {
	var syntax *json.SyntaxError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Offset >= int64(len(message)) {
		return fmt.Errorf("%w after %d bytes (Kubernetes keeps %d)", ErrTruncated, len(message), Limit)
	}
	if syntax != nil {
		return fmt.Errorf("this is no report: %.300q", message) // maybe what went wrong
	}
	return fmt.Errorf("this is no such report: %w", err)
}

// rules collects what is wrong with a report.
type rules struct{ broken []error }

func (r *rules) require(ok bool, format string, args ...any) {
	if !ok {
		r.broken = append(r.broken, fmt.Errorf(format, args...))
	}
}

func (r *rules) notNegative(field string, value int64) {
	r.require(value >= 0, "%s: %d is negative", field, value)
}

// amount is a number that is finite and not negative.
func (r *rules) amount(field string, value float64) {
	r.require(value >= 0 && !math.IsInf(value, 1), "%s: %v is not a finite number of at least 0", field, value)
}

func (r *rules) bootID(id string) {
	r.require(id != "", "bootID: is empty; without it the times say nothing")
}

func (r *rules) job(field, name string) {
	r.require(slices.Contains(Jobs(), name), "%s: %q is none of %s", field, name, strings.Join(Jobs(), ", "))
}

func (r *rules) err() error { return errors.Join(r.broken...) }

package usage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"loadline.dev/loadline/apis/decode"
)

var (
	errTwice      = errors.New("is there twice")
	errUnfinished = errors.New("ends too early")
)

// object reads an object, and has the value of each of its fields read.
func (d *Decoder) object(each func(field string) error) error {
	if _, err := d.open('{'); err != nil {
		return err
	}
	for n := 0; d.json.More(); n++ {
		if n >= maxFields {
			return fmt.Errorf("%w: it has more than %d fields", ErrTooLarge, maxFields)
		}
		token, err := d.token()
		if err != nil {
			return err
		}
		field, _ := token.(string) // else there had been an error
		if err := each(field); err != nil {
			return inField(field, err)
		}
	}
	_, err := d.token()
	return unfinished(err)
}

// list reads a list, and has each of its elements read. It takes null for an empty one, as package json writes it.
func (d *Decoder) list(each func(i int) error) error {
	if null, err := d.open('['); err != nil || null {
		return err
	}
	for i := 0; d.json.More(); i++ {
		if err := each(i); err != nil {
			return inField("["+strconv.Itoa(i)+"]", err)
		}
	}
	_, err := d.token()
	return unfinished(err)
}

// open reads the beginning of an object or of a list, which may be null.
func (d *Decoder) open(want json.Delim) (null bool, err error) {
	token, err := d.token()
	switch {
	case err != nil:
		return false, err
	case token == nil && want == '[':
		return true, nil
	case token == nil:
		return false, fmt.Errorf("begins with null, not with %q", want)
	case token != want:
		return false, fmt.Errorf("begins with %.64q, not with %q", fmt.Sprint(token), want)
	}
	return false, nil
}

func (d *Decoder) token() (json.Token, error) {
	d.in.value = maxValue
	token, err := d.json.Token()
	return token, plain(err)
}

// value reads a value as a whole.
func (d *Decoder) value(to any) error {
	d.in.value = maxValue
	return plain(d.json.Decode(to))
}

// skip reads the value of an unknown field.
func (d *Decoder) skip() error {
	if d.limits.Known {
		return errors.New("is not a known field")
	}
	return d.value(new(anything))
}

// anything receives a value that is skipped.
type anything struct{}

// UnmarshalJSON takes any value.
func (*anything) UnmarshalJSON([]byte) error { return nil }

// fieldError says in which field something is wrong.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// inField returns an error with the path of a field or an element.
func inField(path string, err error) error {
	err = unfinished(err)
	inner, is := err.(*fieldError) //nolint:errorlint // only the outermost says where
	switch {
	case !is:
		return &fieldError{Excerpt(path), err}
	case strings.HasPrefix(inner.path, "["):
		return &fieldError{Excerpt(path) + inner.path, inner.err}
	}
	return &fieldError{Excerpt(path) + "." + inner.path, inner.err}
}

// rule returns the error of a rule, which begins with the field.
func rule(err error) error {
	if err == nil {
		return nil
	}
	path, broken, _ := strings.Cut(err.Error(), ": ")
	return &fieldError{path, errors.New(broken)}
}

// unfinished returns an error that says so where the input ended within a value.
func unfinished(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errUnfinished
	}
	return err
}

// plain returns an error of package json in our words, with no more than an excerpt of the input.
func plain(err error) error {
	if err == nil {
		return nil
	}
	if unlike := (*json.UnmarshalTypeError)(nil); errors.As(err, &unlike) {
		err = fmt.Errorf("is %.64s where a report has %s", unlike.Value, decode.ValuesOf(unlike.Type))
		if unlike.Field != "" {
			err = &fieldError{unlike.Field, err}
		}
		return err
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("is no JSON at byte %d: %w", syntax.Offset, syntax)
	}
	if moment := (*time.ParseError)(nil); errors.As(err, &moment) {
		return fmt.Errorf("%.64q is not a time by RFC 3339", moment.Value)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown { // an error of no type
		return fmt.Errorf("%.64s is not a known field", name)
	}
	if len(err.Error()) > MaxExcerpt {
		return errors.New(Excerpt(err.Error()))
	}
	return err
}

// meter reads no more bytes than are left, of all and of the value that is being read.
type meter struct {
	in         io.Reader
	all, value int64
	failed     error // of the input
}

func (m *meter) Read(p []byte) (int, error) {
	switch {
	case m.all <= 0:
		return 0, fmt.Errorf("%w: it goes on after all that is read of it", ErrTooLarge)
	case m.value <= 0:
		return 0, fmt.Errorf("%w: a value of it is longer than %d bytes", ErrTooLarge, maxValue)
	}
	n, err := m.in.Read(p[:min(int64(len(p)), m.all, m.value)])
	m.all -= int64(n)
	m.value -= int64(n)
	if err != nil && err != io.EOF {
		m.failed = err
	}
	return n, err
}

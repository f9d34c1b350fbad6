package usage

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loadline.dev/loadline/apis/decode"
)

var (
	errTwice      = errors.New("is there twice")
	errUnfinished = errors.New("ends too early")
	errUnknown    = errors.New("is not a known field")
)

// object reads an object, and has the value of each of its fields read.
func (d *Decoder) object(each func(field string) error) error {
	if _, err := d.open('{'); err != nil {
		return err
	}
	for n := 0; d.more(); n++ {
		if n >= maxFields {
			return fmt.Errorf("%w: it has more than %d fields", ErrTooLarge, maxFields)
		}
		name, err := d.token()
		if err != nil {
			return err
		}
		field := name.String()
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
	for i := 0; d.more(); i++ {
		if err := each(i); err != nil {
			return inField("["+strconv.Itoa(i)+"]", err)
		}
	}
	_, err := d.token()
	return unfinished(err)
}

// open reads the beginning of an object or of a list, which may be null.
func (d *Decoder) open(want jsontext.Kind) (null bool, err error) {
	token, err := d.token()
	switch {
	case err != nil:
		return false, err
	case token.Kind() == 'n' && want == '[':
		return true, nil
	case token.Kind() == 'n':
		return false, fmt.Errorf("begins with null, not with %q", want)
	case token.Kind() != want:
		return false, fmt.Errorf("begins with %.64q, not with %q", token.String(), want)
	}
	return false, nil
}

// more reports whether the object or the list goes on. It does not where the input cannot be read, and then [Decoder.token] says why.
func (d *Decoder) more() bool {
	d.in.value = maxValue
	kind := d.json.PeekKind()
	return kind != 0 && kind != '}' && kind != ']'
}

func (d *Decoder) token() (jsontext.Token, error) {
	d.in.value = maxValue
	token, err := d.json.ReadToken()
	return token, plain(err, d.json.StackDepth()-1)
}

// value reads a value as a whole.
func (d *Decoder) value(to any) error {
	d.in.value = maxValue
	depth := d.json.StackDepth()
	return plain(json.UnmarshalDecode(&d.json, to), depth)
}

// skip reads the value of an unknown field.
func (d *Decoder) skip() error {
	if d.limits.Known {
		return errUnknown
	}
	d.in.value = maxValue
	depth := d.json.StackDepth()
	return plain(d.json.SkipValue(), depth)
}

// lists are how the lists of the values that are read as a whole are read. They are made when the first decoder is, so that the gauge, which has none,
// is not linked with what reads them.
var lists struct {
	once sync.Once
	all  *json.Unmarshalers
}

func boundedLists() *json.Unmarshalers {
	lists.once.Do(func() {
		lists.all = json.JoinUnmarshalers(
			bounded[Container](MaxContainers), bounded[PodDisk](MaxPodDisks), bounded[DiskService](maxServices), bounded[string](MaxBeneath), bounded[Refusal](MaxRefused),
		)
	})
	return lists.all
}

// tooManyError is the error of a list of more elements than a limit.
type tooManyError int

func (e tooManyError) Error() string { return fmt.Sprintf("has more than %d elements", int(e)) }

// bounded reads lists of no more elements than a limit. Package json reads any number of them, each of which takes more memory than text.
func bounded[T any](limit int) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(in *jsontext.Decoder, to *[]T) error {
		begin, err := in.ReadToken()
		if err != nil {
			return err
		}
		*to = nil
		switch begin.Kind() {
		case 'n':
			return nil
		case '[':
		default:
			return &json.SemanticError{JSONKind: begin.Kind(), GoType: reflect.TypeFor[[]T]()}
		}
		for in.PeekKind() != ']' {
			if len(*to) == limit {
				return tooManyError(limit)
			}
			*to = append(*to, *new(T))
			if err := json.UnmarshalDecode(in, &(*to)[len(*to)-1]); err != nil {
				return err
			}
		}
		_, err = in.ReadToken()
		return err
	})
}

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

// plain returns an error of package json in our words, with no more than an excerpt of the input. The fields that it names are those
// beneath a depth: of the value that was read.
func plain(err error, depth int) error {
	if err == nil || err == io.EOF { //nolint:errorlint // it is the end of the input only as it is
		return err
	}
	if wrong := (*json.SemanticError)(nil); errors.As(err, &wrong) {
		return beneath(depth, wrong.JSONPointer, meaning(wrong))
	}
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		switch {
		case errors.Is(syntax, jsontext.ErrDuplicateName):
			return beneath(depth, syntax.JSONPointer, errTwice)
		case errors.Is(syntax, io.ErrUnexpectedEOF):
			return errUnfinished
		}
		return fmt.Errorf("is no JSON at byte %d: %s", syntax.ByteOffset+1, Excerpt(syntax.Err.Error()))
	}
	if inner := errors.Unwrap(err); inner != nil { // an error of the input
		return inner
	}
	return err
}

// meaning says what is wrong with a value that is JSON, and not what a report has there.
func meaning(wrong *json.SemanticError) error {
	if moment := (*time.ParseError)(nil); errors.As(wrong.Err, &moment) {
		return fmt.Errorf("%.64q is not a time by RFC 3339", moment.Value)
	}
	if many := tooManyError(0); errors.As(wrong.Err, &many) {
		return many
	}
	if errors.Is(wrong.Err, json.ErrUnknownName) {
		return errUnknown
	}
	is := wrong.JSONKind.String()
	switch {
	case wrong.JSONKind == '{':
		is = "object"
	case wrong.JSONKind == '[':
		is = "list"
	case wrong.JSONKind == '0' && wrong.JSONValue != nil:
		is += " " + string(wrong.JSONValue)
	}
	has := "a time by RFC 3339"
	if wrong.GoType != reflect.TypeFor[time.Time]() {
		has = decode.ValuesOf(wrong.GoType)
	}
	return fmt.Errorf("is %.64s where a report has %s", is, has)
}

// beneath returns an error with the path of what a pointer points to, beneath a depth.
func beneath(depth int, pointer jsontext.Pointer, err error) error {
	fields := slices.Collect(pointer.Tokens())
	for _, field := range slices.Backward(fields[min(max(depth, 0), len(fields)):]) {
		if _, not := strconv.Atoi(field); not == nil {
			field = "[" + field + "]"
		}
		err = inField(field, err)
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

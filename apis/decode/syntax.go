package decode

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// SyntaxError says why a text is no YAML, of which JSON is a part.
type SyntaxError struct {
	// Line is where, from 1; 0 is not known.
	Line int
	// Problem says what is wrong.
	Problem string
}

// Error says that the text is no YAML, and why.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return "is not YAML: " + e.Problem
	}
	return "is not YAML: line " + strconv.Itoa(e.Line) + ": " + e.Problem
}

// JSON returns a document of YAML or JSON as JSON. A field that is there twice is an error. The
// error is a [SyntaxError].
func JSON(document []byte) ([]byte, error) {
	if json.Valid(document) {
		return document, nil
	}
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, Syntax(document, err)
	}
	return text, nil
}

var (
	lineOfYAML = regexp.MustCompile(`line (\d+): `)
	// twiceInYAML is what the parsers say of a key that is there twice.
	twiceInYAML = regexp.MustCompile(`(?:mapping )?key (".*") already (?:set in map|defined.*)`)
)

// Syntax says in our words what a parser of YAML says against a text: its errors are texts.
func Syntax(text []byte, err error) *SyntaxError {
	if value := (*json.UnsupportedValueError)(nil); errors.As(err, &value) {
		return &SyntaxError{Problem: "a number of it is infinite, or none: write a finite one"}
	}
	problem := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		problem = strings.TrimPrefix(problem, prefix)
	}
	problem, _, _ = strings.Cut(strings.TrimSpace(problem), "\n") // the first of several
	e := &SyntaxError{}
	if match := lineOfYAML.FindStringSubmatch(problem); match != nil {
		e.Line, _ = strconv.Atoi(match[1]) // digits
		problem = strings.Replace(problem, match[0], "", 1)
	}
	switch twice := twiceInYAML.FindStringSubmatch(problem); {
	case e.Line > 0 && indentedByTab(text, e.Line):
		problem = "a tab indents a line, and only spaces may"
	case twice != nil:
		problem = "the field " + twice[1] + " is there twice"
	case strings.Contains(problem, "map key"):
		problem = "the name of a field is no text"
	}
	e.Problem = problem
	return e
}

// indentedByTab reports whether a tab is in the indentation of a line, or of the one below it.
func indentedByTab(text []byte, line int) bool {
	lines := strings.Split(string(text), "\n")
	for _, near := range lines[min(line-1, len(lines)):min(len(lines), line+1)] {
		if strings.Contains(near[:len(near)-len(strings.TrimLeft(near, " \t"))], "\t") {
			return true
		}
	}
	return false
}

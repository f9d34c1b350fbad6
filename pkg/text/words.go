package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Counted writes how many there are of something, named in the singular: "1 job",
// "1,204 jobs".
func Counted(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return Count(int64(n)) + " " + of
}

// Capitalized returns a text with a capital first letter, such as a clause that begins a sentence.
func Capitalized(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if first == utf8.RuneError {
		return clause
	}
	return string(unicode.ToUpper(first)) + clause[size:]
}

// Names lists the first five names, and says how many more there are.
func Names(names []string) string {
	const shown = 5
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Named is an object of Kubernetes.
type Named interface {
	// GetNamespace returns its namespace, empty for none.
	GetNamespace() string
	// GetName returns its name.
	GetName() string
}

// QualifiedName writes namespace/name of an object, or its name alone where it has no namespace.
func QualifiedName(object Named) string {
	return strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
}

// Abridge cuts a text to a number of bytes, and marks that it did.
func Abridge(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

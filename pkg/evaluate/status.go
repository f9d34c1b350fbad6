package evaluate

import (
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/text"
)

// Fraction returns a quantity, to a millionth.
func Fraction(f float64) *resource.Quantity {
	return new(resource.MustParse(strconv.FormatFloat(f, 'f', 6, 64)))
}

// SetConditions brings conditions up to date. Their time is now where their
// status changes.
func SetConditions(conditions *[]metav1.Condition, generation int64, now metav1.Time, next ...metav1.Condition) {
	for _, c := range next {
		c.ObservedGeneration = generation
		c.LastTransitionTime = now
		c.Message = ConditionMessage(c.Message)
		meta.SetStatusCondition(conditions, c)
	}
}

// maxMessage is the longest message of a condition, in bytes. It lets an event
// carry the message: the API server refuses events with a longer note.
const maxMessage = 1024

// ConditionMessage makes a text the message of a condition or an event, which people see on
// terminals: what cannot be seen is escaped, and what is too long cut off.
func ConditionMessage(message string) string {
	return Abridge(text.Printable(message), maxMessage)
}

// Abridge cuts a text to a number of bytes, and marks that it did.
func Abridge(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// Package condition brings the conditions of a status up to date.
package condition

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/text"
)

// Set brings conditions up to date. Their time is now where their status changes.
func Set(conditions *[]metav1.Condition, generation int64, now metav1.Time, next ...metav1.Condition) {
	for _, c := range next {
		c.ObservedGeneration = generation
		c.LastTransitionTime = now
		c.Message = Message(c.Message)
		meta.SetStatusCondition(conditions, c)
	}
}

// maxMessage is the longest message of a condition, in bytes. It lets an event
// carry the message: the API server refuses events with a longer note.
const maxMessage = 1024

// Message makes a text the message of a condition or an event, which people see on
// terminals: what cannot be seen is escaped, and what is too long cut off.
func Message(message string) string {
	return text.Abridge(text.Printable(message), maxMessage)
}

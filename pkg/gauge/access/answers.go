package access

import (
	"container/list"
	"time"
)

// answer is a decision, whose the token is where it is allowed and that is asked for, and when it was made.
type answer struct {
	decision Decision
	user     *User
	at       time.Time
}

// answers are a bounded number of answers: a new one takes the place of that which was made first.
type answers struct {
	limit int
	order *list.List // of keys, by the time of their answers
	byKey map[key]kept
}

type kept struct {
	answer
	place *list.Element
}

func newAnswers(limit int) *answers {
	return &answers{limit: limit, order: list.New(), byKey: map[key]kept{}}
}

func (a *answers) get(k key) (answer, bool) {
	found, is := a.byKey[k]
	return found.answer, is
}

func (a *answers) put(k key, made answer) {
	a.drop(k)
	for a.order.Len() >= a.limit {
		if oldest, is := a.order.Front().Value.(key); is {
			a.drop(oldest)
		}
	}
	a.byKey[k] = kept{made, a.order.PushBack(k)}
}

func (a *answers) drop(k key) {
	if found, is := a.byKey[k]; is {
		a.order.Remove(found.place)
		delete(a.byKey, k)
	}
}

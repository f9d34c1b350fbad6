package usage

// Report is the answer of a gauge: its latest observations.
type Report struct {
	// AgeSeconds is how long ago the last interval ended, by a clock that is never set; 0 if there is none.
	AgeSeconds float64 `json:"ageSeconds"`
	// Intervals follow each other, the oldest first.
	Intervals []Interval `json:"intervals"`
}

// Collection is the first value of the manager's answer, in JSON. After it come the reports, each of another node and with an age
// of its own, as values on lines of their own, so that neither side holds all of them as text.
type Collection struct {
	// AgeSeconds is how long ago the manager last ended a round of asking all gauges.
	AgeSeconds float64 `json:"ageSeconds"`
	// Refused are the gauges whose last answer the manager refused, in the order of their nodes, [MaxRefused] at most, and
	// RefusedBesides is how many further ones there are.
	Refused        []Refusal `json:"refused,omitempty"`
	RefusedBesides int       `json:"refusedBesides,omitempty"`
}

// Refusal says that the last answer of a gauge was refused: it broke the rules, or was too large.
type Refusal struct {
	// Node is the node that the gauge runs on.
	Node string `json:"node"`
	// Reason says which field broke which rule. It is an [Excerpt].
	Reason string `json:"reason"`
}

// MaxRefused is how many refusals a collection has.
const MaxRefused = 50

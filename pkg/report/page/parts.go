package page

import "time"

// Kind is the kind of a part of a bar, by which it has its colour.
type Kind string

// Kinds of parts: the causes of a dilation, and what a pod does with its time.
const (
	Neighbour  Kind = "neighbour"
	Limit      Kind = "limit"
	Hypervisor Kind = "hypervisor"
	Itself     Kind = "itself"
	System     Kind = "system"
	Ended      Kind = "ended"
	Unclear    Kind = "unclear"
	Plain      Kind = "plain"
)

// Card is a thing to do, or a remark of that weight.
type Card struct {
	// Title says what; not empty.
	Title string
	// Gains say what gets better, and Lines what else there is to know.
	Gains, Lines []string
	// Command is what to type, one or more lines; may be empty.
	Command string
	// Action does it at once, nil where that cannot be.
	Action *Action
}

// Action is a button that posts a form.
type Action struct {
	Label string
	// To is the address, and Fields the names and values that are posted.
	To     string
	Fields []Hidden
}

// Hidden is a field of a form that is not shown.
type Hidden struct{ Name, Value string }

// Bars are bars of parts, all on one scale.
type Bars struct {
	// Of says what the length of a bar means; not empty.
	Of string
	// Full is the value of a bar of full length, 0 for the largest sum.
	Full float64
	// Key explains the kinds that occur.
	Key []KeyEntry
	// Mark is a value at which all bars have a line, which MarkIs explains; 0 for none.
	Mark   float64
	MarkIs string
	Rows   []BarRow
	// Heads are those of the columns of the table behind the bars.
	Heads BarHeads
	// SparksAre says what the values of sparklines are, and SparkEvery how far they are apart, the last one of them now.
	SparksAre  string
	SparkEvery time.Duration
}

// BarHeads say what the columns of the table behind bars have: the names of the bars, their figures, the parts, and the values of these.
type BarHeads struct{ Name, Figure, Part, Value string }

// KeyEntry explains a kind.
type KeyEntry struct {
	Kind Kind
	Text string
}

// BarRow is a bar with what it is about.
type BarRow struct {
	// Name says what the bar is of, Link where that leads, and Detail is a remark to it.
	Name, Link, Detail string
	// Figure is the sum in words, "6.74×", and Words say what the bar shows, for all who do not see it.
	Figure, Words string
	// Parts add up to the bar.
	Parts []BarPart
	// Spark has the values of the past, oldest first, and SparkIs describes them: from which to which, say.
	Spark   []float64
	SparkIs string
	// Severity is "bad", "warning" or empty.
	Severity string
	// Remedy says what would help; may be empty.
	Remedy string
	// Of are bars that this one sums up.
	Of []BarRow
}

// BarPart is a part of a bar: its name, its value, and that in words, "+2.84".
type BarPart struct {
	Kind         Kind
	Name, Figure string
	Value        float64
}

// Label returns what the part is called within its bar.
func (p BarPart) Label() string { return p.Name + " " + p.Figure }

// Tiles are many things of one kind, coloured by a value on one scale for all pages.
type Tiles struct {
	// Of says what the colour means; not empty.
	Of string
	// From and To are the ends of the scale of colours in words.
	From, To string
	Tiles    []Tile
	// Heads are those of the columns of the table behind the tiles, where these are many.
	Heads TileHeads
}

// TileHeads say what the columns of the table behind tiles have: the fields of a [Tile] of the same names.
type TileHeads struct{ Name, Figure, Detail string }

// Many reports whether the tiles are more than have room for words, so that each is a square.
func (t *Tiles) Many() bool { return len(t.Tiles) > 60 }

// Tile is one of them.
type Tile struct {
	Name, Link string
	// Heat is the position of the value on the scale, from 0 to 1, and Unknown that there is none.
	Heat    float64
	Unknown bool
	// Figure is the value in words, and Detail a remark.
	Figure, Detail string
}

// Words say what a tile shows, where it has no room for them.
func (t *Tile) Words() string {
	words := t.Name + ": " + t.Figure
	if t.Detail != "" {
		words += ", " + t.Detail
	}
	return words
}

// Form asks for other answers: what is changed in it is asked at once where scripts run, and by its button where none do.
type Form struct {
	// To is the address, empty for that of the page. A form that is posted sends its fields in the body.
	To   string
	Post bool
	// Leaves has the browser send it, which opens the page that answers, in place of a script.
	Leaves bool
	Label  string // of the form, for screen readers
	Fields []Field
	Submit string
}

// FieldType is how a field is entered.
type FieldType string

// Types of fields.
const (
	TextField   FieldType = "text"
	SearchField FieldType = "search"
	NumberField FieldType = "number"
	RangeField  FieldType = "range"
	SelectField FieldType = "select"
	AreaField   FieldType = "area"
	HiddenField FieldType = "hidden"
	SecretField FieldType = "password"
)

// Field is a field of a form.
type Field struct {
	Type               FieldType
	Name, Label, Value string
	// Shown is the value in words, of a field that is a range.
	Shown string
	// Min, Max and Step bound numbers and ranges, as HTML writes them.
	Min, Max, Step string
	// End says that the largest value of a range stands for none: it is left out of the address.
	End bool
	// Options are those of a select.
	Options []Option
	// Placeholder is shown while the field is empty.
	Placeholder string
}

// Option is a choice.
type Option struct {
	Value, Text string
	Chosen      bool
}

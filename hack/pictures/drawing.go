package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The colours. Those of resources are of Okabe and Ito's palette, as in all charts of Loadline; the paler ones lie
// under text.
const (
	ink       = "#222222"
	faint     = "#666666"
	grid      = "#DDDDDD"
	paper     = "#FFFFFF"
	ground    = "#F4F4F4"
	blue      = "#0072B2"
	paleBlue  = "#8DC0DD"
	red       = "#D55E00"
	paleRed   = "#EDB78D"
	green     = "#009E73"
	paleGreen = "#8FD3BF"
	purple    = "#CC79A7"
)

// drawing is a picture in the making. Its unit is a pixel, and (0, 0) the upper left corner.
type drawing struct {
	width, height float64
	title         string // what it shows, for those who cannot see it
	body          strings.Builder
}

// newDrawing returns an empty picture, as wide as all are.
func newDrawing(height float64, title string) *drawing {
	return &drawing{width: 760, height: height, title: title}
}

// encode returns the file.
func (d *drawing) encode() []byte {
	var b strings.Builder
	w, h := px(d.width), px(d.height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(d.title))
	// What waits is hatched, in the colour of what it waits for.
	b.WriteString("<defs>\n")
	for _, c := range []struct{ name, color string }{{"blue", blue}, {"red", red}} {
		fmt.Fprintf(&b, `<pattern id="wait-%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`, c.name)
		fmt.Fprintf(&b, `<rect width="6" height="6" fill="%s"/><rect width="2" height="6" fill="%s"/></pattern>`+"\n", paper, c.color)
	}
	b.WriteString("</defs>\n")
	b.WriteString(`<g font-family="Liberation Sans,Arial,Helvetica,sans-serif">` + "\n")
	fmt.Fprintf(&b, `<rect width="%s" height="%s" fill="%s"/>`+"\n", w, h, paper)
	b.WriteString(d.body.String())
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

// waiting is the fill of time spent waiting for a resource of that colour.
func waiting(color string) string {
	if color == red {
		return "url(#wait-red)"
	}
	return "url(#wait-blue)"
}

// rect draws a filled rectangle with an outline; "none" is neither.
func (d *drawing) rect(x, y, width, height float64, fill, outline string) {
	fmt.Fprintf(&d.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" stroke="%s"/>`+"\n", px(x), px(y), px(width), px(height), fill, outline)
}

// line draws a line; dashes is as in SVG, such as "4 3", or "" for none.
func (d *drawing) line(x1, y1, x2, y2 float64, color, dashes string) {
	fmt.Fprintf(&d.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"`, px(x1), px(y1), px(x2), px(y2), color)
	if dashes != "" {
		fmt.Fprintf(&d.body, ` stroke-dasharray="%s"`, dashes)
	}
	d.body.WriteString("/>\n")
}

// dot draws a small disc.
func (d *drawing) dot(x, y float64, color string) {
	fmt.Fprintf(&d.body, `<circle cx="%s" cy="%s" r="3.5" fill="%s"/>`+"\n", px(x), px(y), color)
}

// path draws a line through points.
func (d *drawing) path(points [][2]float64, color string) {
	parts := make([]string, len(points))
	for i, p := range points {
		parts[i] = px(p[0]) + "," + px(p[1])
	}
	fmt.Fprintf(&d.body, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(parts, " "), color)
}

// Where a text stands relative to its point.
const (
	from   = "start"
	around = "middle"
	until  = "end"
)

// style is how a text looks. The zero value is dark text of the usual size.
type style struct {
	size  float64 // 0: 13
	bold  bool
	color string // "": ink
}

// text writes one line. y is its base line.
func (d *drawing) text(x, y float64, anchor, text string, s style) {
	size, color, weight := s.size, s.color, "normal"
	if size == 0 {
		size = 13
	}
	if color == "" {
		color = ink
	}
	if s.bold {
		weight = "bold"
	}
	fmt.Fprintf(&d.body, `<text x="%s" y="%s" font-size="%s" font-weight="%s" fill="%s" text-anchor="%s">%s</text>`+"\n",
		px(x), px(y), px(size), weight, color, anchor, escape(text))
}

// legend explains fills, side by side from (x, y), the middle of its line.
func (d *drawing) legend(x, y float64, entries ...[2]string) {
	const box, gap, letter = 12, 22, 6.6
	for _, e := range entries {
		d.rect(x, y-box/2, box, box, e[1], faint)
		d.text(x+box+6, y+4.5, from, e[0], style{size: 12})
		x += box + 6 + letter*float64(len(e[0])) + gap
	}
}

// px writes a length with as many digits as can be seen.
func px(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func escape(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(err) // a Builder takes everything
	}
	return b.String()
}

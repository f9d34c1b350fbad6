package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"image/color"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/report/chart"
)

const module = "loadline.dev/loadline/"

// apart are packages with a box of their own in the picture, beside that of the folder they are in: those that packages
// below the folder import.
var apart = []string{"pkg/probe/result", "pkg/report/chart", "pkg/report/file"}

// boxOf returns the box of a package: a program, a folder of pkg, or another folder of the repository.
func boxOf(folder string) string {
	if slices.Contains(apart, folder) {
		return strings.TrimPrefix(folder, "pkg/")
	}
	top, rest, _ := strings.Cut(folder, "/")
	if top == "cmd" || top == "pkg" {
		top, _, _ = strings.Cut(rest, "/")
	}
	return top
}

// layers are the boxes of the picture, and what they import.
type layers struct {
	imports map[string][]string
	level   map[string]int // 0 at the bottom
	rows    [][]string     // by level: boxes, and the bends of arrows that pass a row
	ways    map[string][]string
}

// readLayers reads the imports of the packages below a root, without their tests.
func readLayers(root fs.FS) (*layers, error) {
	l := &layers{imports: map[string][]string{}, level: map[string]int{}, ways: map[string][]string{}}
	for _, top := range []string{"apis", "cmd", "config", "pkg"} {
		err := fs.WalkDir(root, top, func(at string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") || strings.Contains(at, "/internal/") {
				return err
			}
			return l.read(root, at)
		})
		if err != nil {
			return nil, err
		}
	}
	if err := l.arrange(); err != nil {
		return nil, err
	}
	return l, nil
}

// read adds the imports of a file.
func (l *layers) read(root fs.FS, at string) error {
	text, err := fs.ReadFile(root, at)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), at, text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	box := boxOf(at[:strings.LastIndex(at, "/")])
	others := l.imports[box]
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if folder, ours := strings.CutPrefix(name, module); ours {
			if other := boxOf(folder); other != box && !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	l.imports[box] = others
	return nil
}

// arrange gives each box a level, as high as its importers allow, and drops the imports that follow from others.
func (l *layers) arrange() error {
	height := 0
	below := map[string]map[string]bool{} // all that a box imports, at once or by way of others
	var visit func(box string, way []string) (int, error)
	visit = func(box string, way []string) (int, error) {
		if slices.Contains(way, box) {
			return 0, fmt.Errorf("imports go round: %s", strings.Join(append(way, box), " → "))
		}
		depth := 0
		below[box] = map[string]bool{}
		for _, other := range l.imports[box] {
			d, err := visit(other, append(way, box))
			if err != nil {
				return 0, err
			}
			depth = max(depth, d+1)
			below[box][other] = true
			maps.Copy(below[box], below[other])
		}
		height = max(height, depth)
		return depth, nil
	}
	boxes := slices.Sorted(maps.Keys(l.imports))
	for _, box := range boxes {
		if _, err := visit(box, nil); err != nil {
			return err
		}
	}
	// From the top down, by the number of boxes below: importers come first.
	slices.SortStableFunc(boxes, func(a, b string) int { return cmp.Compare(len(below[b]), len(below[a])) })
	l.rows = make([][]string, height+1)
	for _, box := range boxes {
		level := height
		for importer, others := range l.imports {
			if slices.Contains(others, box) {
				level = min(level, l.level[importer]-1)
			}
		}
		l.level[box] = level
		l.rows[level] = append(l.rows[level], box)
	}
	for box, others := range l.imports {
		l.imports[box] = slices.DeleteFunc(slices.Clone(others), func(other string) bool {
			return slices.ContainsFunc(others, func(way string) bool { return below[way][other] })
		})
	}
	l.bend()
	l.order()
	return nil
}

// way is the key of the arrow between two boxes.
func way(from, to string) string { return from + " → " + to }

// bend gives an arrow a bend in each row between its ends, from the top down, so that it passes between boxes.
func (l *layers) bend() {
	for _, from := range slices.Sorted(maps.Keys(l.imports)) {
		for _, to := range l.imports[from] {
			points := []string{from}
			for level := l.level[from] - 1; level > l.level[to]; level-- {
				bend := fmt.Sprintf("%s at %d", way(from, to), level)
				l.rows[level] = append(l.rows[level], bend)
				points = append(points, bend)
			}
			l.ways[way(from, to)] = append(points, to)
		}
	}
}

// order moves what is in a row towards what it is linked to, so that few arrows cross.
func (l *layers) order() {
	links := map[string][]string{}
	for _, points := range l.ways {
		for i, point := range points[1:] {
			links[point] = append(links[point], points[i])
			links[points[i]] = append(links[points[i]], point)
		}
	}
	const sweeps = 50
	for range sweeps {
		place := l.places()
		for _, row := range l.rows {
			slices.SortStableFunc(row, func(a, b string) int {
				return cmp.Or(cmp.Compare(mean(a, links, place), mean(b, links, place)), cmp.Compare(a, b))
			})
		}
	}
}

// mean returns the mean place of a point and of what it is linked to.
func mean(point string, links map[string][]string, place map[string]float64) float64 {
	at := []float64{place[point]}
	for _, other := range links[point] {
		at = append(at, place[other])
	}
	slices.Sort(at) // links come in any order, sums depend on it
	sum := 0.0
	for _, x := range at {
		sum += x
	}
	return sum / float64(len(at))
}

// places returns where the middle of each box and each bend is in its row, from 0 to 1.
func (l *layers) places() map[string]float64 {
	const bend = 0.25 // of the room of a box
	room := func(name string) float64 {
		if _, is := l.level[name]; is {
			return 1
		}
		return bend
	}
	place := map[string]float64{}
	for _, row := range l.rows {
		total, at := 0.0, 0.0
		for _, name := range row {
			total += room(name)
		}
		for _, name := range row {
			place[name] = (at + room(name)/2) / total
			at += room(name)
		}
	}
	return place
}

// moduleRoot returns the folder with go.mod, from the working directory up.
func moduleRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", errors.New("no go.mod here or above")
		}
		at = filepath.Dir(at)
	}
}

// drawArchitecture draws the packages in layers, each with arrows to those that it imports.
func drawArchitecture() (chart.Chart, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	l, err := readLayers(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	const boxHeight, rowHeight = 26, 66
	height := vg.Length(len(l.rows)-1)*rowHeight + boxHeight
	return drawing(height+24, "The packages of Loadline in layers, with arrows to what each imports", func(c canvas) {
		place := l.places()
		x := func(name string) vg.Length { return c.Size().X * vg.Length(place[name]) }
		y := func(level int) vg.Length { return vg.Length(len(l.rows)-1-level) * rowHeight }
		for _, from := range slices.Sorted(maps.Keys(l.imports)) {
			for _, to := range l.imports[from] {
				points, level := l.ways[way(from, to)], l.level[from]
				for i, bend := range points[1:] {
					begin, end := y(level-i)+boxHeight, y(level-i-1)
					if bend == to {
						c.arrow(x(points[i]), begin, x(to), end, chart.SoftInk)
						continue
					}
					c.line(x(points[i]), begin, x(bend), end, chart.SoftInk)
					c.line(x(bend), end, x(bend), end+boxHeight, chart.SoftInk)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(l.imports)) {
			width := plain.Width(name) + 16
			c.rect(x(name)-width/2, y(l.level[name]), width, boxHeight, pale(blue), chart.SoftInk)
			c.text(x(name), y(l.level[name])+boxHeight/2, chart.AlignCenter(plain), name)
		}
	}), nil
}

// arrow draws a line with a head at its end.
func (c canvas) arrow(x1, y1, x2, y2 vg.Length, hue color.Color) {
	const length, half = 6, 2.5
	c.line(x1, y1, x2, y2, hue)
	from, to := c.at(x1, y1), c.at(x2, y2)
	back := from.Sub(to)
	unit := back.Scale(1 / vg.Length(math.Hypot(float64(back.X), float64(back.Y))))
	base := to.Add(unit.Scale(length))
	side := vg.Point{X: -unit.Y * half, Y: unit.X * half}
	c.FillPolygon(hue, []vg.Point{to, base.Add(side), base.Sub(side)})
}

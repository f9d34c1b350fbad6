// Pictures draws the pictures of docs/model.md, from the numbers that the model computes, that of docs/comparison.md, from the map of
// package savings, and those of docs/architecture.md, from the imports of the code and the names of what is installed, as charts in the look of all others:
//
//	go run ./hack/pictures
//
// The same code gives the same bytes; a test fails when a picture in docs/images is not what is drawn here, or when
// a number in the text is not what is computed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"loadline.dev/loadline/pkg/report/chart"
)

// picture is a chart with a file of its own.
type picture struct {
	page string // of docs, that shows it
	name string // of the file, without its ending
	draw func() (chart.Chart, error)
}

// pictures are all of them, in the order of the pages.
func pictures() []picture {
	return []picture{
		{"model.md", "model-utilization", drawUtilization},
		{"model.md", "model-vector", drawVector},
		{"model.md", "model-dilation", drawDilation},
		{"model.md", "model-price", drawPrice},
		{"model.md", "model-servers", drawServers},
		{"model.md", "model-requests", drawRequests},
		{"model.md", "model-interference", drawInterference},
		{"model.md", "model-epochs", drawEpochs},
		{"model.md", "model-sizing", drawSizing},
		{"model.md", "model-share", drawShare},
		{"comparison.md", "savings", drawSavings},
		{"architecture.md", "cluster", drawCluster},
		{"architecture.md", "architecture", drawArchitecture},
	}
}

func main() {
	out := flag.String("out", filepath.Join("docs", "images"), "the `folder` to draw into")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	for _, p := range pictures() {
		c, err := p.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := chart.WriteFile(filepath.Join(out, p.name+".svg"), c); err != nil {
			return err
		}
	}
	return nil
}

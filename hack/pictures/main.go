// Pictures draws the pictures of docs/model.md, from the numbers that the model computes:
//
//	go run ./hack/pictures
//
// The same model gives the same bytes; a test fails when a picture in docs/images is not what is drawn here, or when
// a number in the text is not what is computed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// picture is a drawing with a file of its own.
type picture struct {
	name string // of the file, without its ending
	draw func() (*drawing, error)
}

// pictures are all of them, in the order of the page.
func pictures() []picture {
	return []picture{
		{"model-utilization", drawUtilization},
		{"model-vector", drawVector},
		{"model-dilation", drawDilation},
		{"model-price", drawPrice},
		{"model-servers", drawServers},
		{"model-epochs", drawEpochs},
		{"model-sizing", drawSizing},
		{"model-share", drawShare},
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
		d, err := p.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.name+".svg"), d.encode(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

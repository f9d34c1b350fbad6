package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/report/chart"
)

// write writes all that is known in JSON.
func (c *comparer) write(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{
		"openb": list(c.openb), "nodes": c.Nodes, "requested": c.Requested, "steps": c.Steps, "profileError": c.ProfileError,
		"devices": c.devices, "precision": c.precision, "schedulers": comparison.Summarize(c.runs), "runs": c.runs, "search": c.found,
	})
}

// save writes it to a file.
func (c *comparer) save() (err error) {
	if err := os.MkdirAll(c.out, 0o750); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(c.out, "comparison.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return c.write(file)
}

// show prints the answer and draws the chart.
func (c *comparer) show() error {
	if c.output == "json" {
		return c.write(os.Stdout)
	}
	rows := comparison.Summarize(c.runs)
	if err := comparison.WriteTable(os.Stdout, rows); err != nil {
		return err
	}
	most := 0.0
	for i := range rows {
		most = max(most, rows[i].Simulated.Error)
	}
	fmt.Printf("The simulation's standard error of the mean dilation of a seed is at most %.4f.\n", most)
	if c.found != nil {
		fmt.Println(c.found)
	}
	path := filepath.Join(c.out, "dilations.svg")
	if err := chart.WriteFile(path, comparison.Chart(c.samples)); err != nil {
		return err
	}
	fmt.Println("Chart:", path)
	return nil
}

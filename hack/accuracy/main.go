// Accuracy measures how well models predict measurements that they have not seen, and writes the table and the chart of
// docs/evidence/accuracy.md:
//
//	go run ./hack/accuracy
//
// Other files of the same formats, or folders of them, are measured in the same way, and the table is printed:
//
//	go run ./hack/accuracy -f pairs.json -f runs.csv
//
// The header says which format it is: run,job,dilation is what kubectl loadline fit reads; job,stressor,real_s,user_s,sys_s are
// times beside stressors, with none for alone; job,threads,real_s,user_s,sys_s are times by the number of threads. A file that
// ends in .json is a table of throughputs of pairs of jobs on accelerators.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"loadline.dev/loadline/pkg/report/chart"
)

// folder holds the data that the page is about.
var folder = filepath.Join("test", "testdata", "colocation")

// files are named by a flag that may be repeated.
type files []string

// String implements [flag.Value].
func (f *files) String() string { return fmt.Sprint(*f) }

// Set implements [flag.Value].
func (f *files) Set(name string) error {
	*f = append(*f, name)
	return nil
}

func main() {
	var named files
	flag.Var(&named, "f", "a `file` or folder to measure, rather than those of docs/evidence/accuracy.md; may be repeated")
	cpus := flag.Int("cpus", 8, "logical CPUs of the node of a file of threads")
	flag.Parse()
	if err := run(os.Stdout, named, *cpus); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, named files, cpus int) error {
	if len(named) > 0 {
		rows, notes, err := measure(named, cpus)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(out, table(rows), notesOf(notes))
		return err
	}
	rows, notes, err := measure(files{folder}, cpus)
	if err != nil {
		return err
	}
	page := filepath.Join("docs", "evidence", "accuracy.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	changed, err := between(string(text), table(rows)+notesOf(notes))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
		return err
	}
	return chart.WriteFile(filepath.Join("docs", "images", "accuracy.svg"), picture(rows))
}

// measure measures all models on files, and on those in folders.
func measure(named files, cpus int) (rows []row, notes []string, err error) {
	var all []string
	for _, name := range named {
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			all = append(all, name)
			continue
		}
		for _, pattern := range []string{"*.csv", "*.json"} {
			found, err := filepath.Glob(filepath.Join(name, pattern))
			if err != nil {
				return nil, nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return nil, nil, errors.New("-f: there are no .csv or .json files")
	}
	slices.Sort(all)
	for _, name := range all {
		sets, err := read(name, cpus)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, s := range sets {
			more, err := s.measure()
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			rows = append(rows, more...)
			notes = append(notes, s.notes()...)
		}
	}
	return rows, notes, nil
}

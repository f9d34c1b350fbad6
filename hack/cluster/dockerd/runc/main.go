// Runc runs the runc on its PATH on containers that ask for no more than this machine can give. On a machine whose bounding
// set of capabilities lacks some, "docker run --privileged" asks for all that there are, and runc fails with "unable to apply
// caps": so capabilities outside of the bounding set are taken out of what runc reads. Without CAP_SYS_RESOURCE the score by
// which the kernel chooses what to kill cannot be lowered either, and is left as it is.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/moby/sys/capability"
)

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "runc:", err)
		os.Exit(1)
	}
}

// run becomes runc, once what runc reads is limited. It returns only if it fails.
func run(args []string) error {
	files := described(args[1:])
	if len(files) > 0 {
		bounding, err := boundingSet()
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := limitFile(file, bounding); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	return syscall.Exec(runc, args, os.Environ())
}

// described returns the files, named by runc's arguments, that describe a container or a process.
func described(args []string) []string {
	var files []string
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--bundle", "-b":
			files = append(files, filepath.Join(value, "config.json"))
		case "--process", "-p":
			files = append(files, value)
		}
	}
	return files
}

// boundingSet returns the names of the capabilities that a process of this machine can have.
func boundingSet() (map[string]bool, error) {
	own, err := capability.NewPid2(0)
	if err == nil {
		err = own.Load()
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, one := range capability.ListKnown() {
		names["CAP_"+strings.ToUpper(one.String())] = own.Get(capability.BOUNDING, one)
	}
	return names, nil
}

// limitFile limits the container or process that a file describes.
func limitFile(path string, bounding map[string]bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	limited, err := limit(text, bounding)
	if err != nil {
		return err
	}
	return os.WriteFile(path, limited, 0o600)
}

// limit returns the description of a container, or of a process, without what the bounding set does not allow. Everything else
// stays as it is.
func limit(text []byte, bounding map[string]bool) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // or large numbers would be rounded
	var description map[string]any
	if err := decoder.Decode(&description); err != nil {
		return nil, err
	}
	process, ofContainer := description["process"].(map[string]any)
	if !ofContainer {
		process = description
	}
	if sets, ok := process["capabilities"].(map[string]any); ok {
		for kind, set := range sets {
			if all, ok := set.([]any); ok {
				sets[kind] = within(all, bounding)
			}
		}
	}
	if !bounding["CAP_SYS_RESOURCE"] {
		delete(process, "oomScoreAdj")
	}
	return json.Marshal(description)
}

// within returns those of the names that are in the set.
func within(all []any, set map[string]bool) []any {
	kept := []any{}
	for _, one := range all {
		if name, ok := one.(string); ok && set[name] {
			kept = append(kept, one)
		}
	}
	return kept
}

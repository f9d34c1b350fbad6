package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe/report"
)

// terminationLog is where Kubernetes looks for what a container has to say in the end.
const terminationLog = "/dev/termination-log"

// result is where to write what a command finds: a file, else the standard output.
type result struct{ path string }

// addTo gives a command the flag.
func (r *result) addTo(command *cobra.Command) {
	command.Flags().StringVar(&r.path, "result", "", "File to write the result to. Defaults to "+terminationLog+" if that can be written, else to the standard output.")
}

// choose settles where to write, before anything is measured.
func (r *result) choose() error {
	if r.path == "" {
		if file, err := os.OpenFile(terminationLog, os.O_WRONLY, 0); err == nil { // else it is not in a container
			r.path = terminationLog
			return file.Close()
		}
		return nil
	}
	file, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return file.Close()
}

// write writes in place of what was written before.
func (r *result) write(command *cobra.Command, text []byte) error {
	text = append(text, '\n')
	if r.path == "" {
		_, err := command.OutOrStdout().Write(text)
		return err
	}
	return os.WriteFile(r.path, text, 0o644)
}

// reporting carries out what a command does, and writes its report, or what went wrong.
func reporting[T report.Report](command *cobra.Command, r *result, find func() (T, error)) error {
	if err := r.choose(); err != nil {
		return err
	}
	found, err := find()
	if err == nil {
		var encoded []byte
		if encoded, err = report.Encode(found); err == nil {
			return r.write(command, encoded)
		}
	}
	if r.path != "" {
		err = errors.Join(err, r.write(command, []byte("Error: "+err.Error())))
	}
	return err
}

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe/result"
)

// terminationLog is where Kubernetes looks for what a container has to say in the end.
const terminationLog = "/dev/termination-log"

// destination is where to write what a command finds: a file, else the standard output.
type destination struct{ path string }

// addTo gives a command the flag.
func (d *destination) addTo(command *cobra.Command) {
	command.Flags().StringVar(&d.path, "result", "", "File to write the result to. Defaults to "+terminationLog+" if that can be written, else to the standard output.")
}

// choose settles where to write, before anything is measured.
func (d *destination) choose() error {
	if d.path == "" {
		if file, err := os.OpenFile(terminationLog, os.O_WRONLY, 0); err == nil { // else it is not in a container
			d.path = terminationLog
			return file.Close()
		}
		return nil
	}
	file, err := os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return file.Close()
}

// write writes in place of what was written before.
func (d *destination) write(command *cobra.Command, text []byte) error {
	text = append(text, '\n')
	if d.path == "" {
		_, err := command.OutOrStdout().Write(text)
		return err
	}
	return os.WriteFile(d.path, text, 0o644)
}

// reporting carries out what a command does, and writes its report, or what went wrong.
func reporting[T result.Report](command *cobra.Command, d *destination, find func() (T, error)) error {
	if err := d.choose(); err != nil {
		return err
	}
	found, err := find()
	if err == nil {
		var encoded []byte
		if encoded, err = result.Encode(found); err == nil {
			return d.write(command, encoded)
		}
	}
	if d.path != "" {
		err = errors.Join(err, d.write(command, []byte("Error: "+err.Error())))
	}
	return err
}

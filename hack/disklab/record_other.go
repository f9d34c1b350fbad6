//go:build !linux

package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

var errLinux = errors.New("control groups are Linux': run disklab there, as root")

func jobCommand() *cobra.Command {
	return &cobra.Command{Use: "job", Hidden: true, RunE: func(*cobra.Command, []string) error { return errLinux }}
}

func record(context.Context, options, io.Writer, io.Writer) error { return errLinux }

func runPrograms(context.Context, options, io.Writer, io.Writer) error { return errLinux }

func quiet(context.Context, quietOptions, io.Writer, io.Writer) error { return errLinux }

// Pause does nothing until it is told to end. It is the first process of a pod, which holds the pod's namespaces, and
// of a real node of the local cluster, for the same reason. As the first process it inherits the processes that
// others leave behind, and reaps them.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	for {
		select {
		case <-end:
			return
		case <-ended:
			if err := reap(); err != nil {
				fmt.Fprintln(os.Stderr, "pause:", err)
				os.Exit(1)
			}
		}
	}
}

// reap takes note of all children that have ended.
func reap() error {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD), err == nil && pid == 0:
			return nil
		case err != nil:
			return fmt.Errorf("reap children: %w", err)
		}
	}
}

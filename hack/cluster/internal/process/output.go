package process

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Output runs a program and returns what it prints, without spaces around it. The error quotes what it says on standard error.
func Output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	err = fmt.Errorf("%s: %w", strings.Join(append([]string{filepath.Base(cmd.Path)}, cmd.Args[1:]...), " "), err)
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		err = fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	return "", err
}

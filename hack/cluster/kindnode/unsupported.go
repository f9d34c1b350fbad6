//go:build !linux

package kindnode

import (
	"context"
	"errors"
	"io"
)

// Archive fails: only Linux can install Debian into a folder.
func Archive(context.Context, string, string, io.Writer) (string, error) {
	return "", errors.New("images of nodes can only be made on Linux: use a published one")
}

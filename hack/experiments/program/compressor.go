package program

import (
	"compress/gzip"
	"context"
	"io"
	"os"
)

const kib = 1 << 10

// openCompressor writes the files that are compressed in turn.
func openCompressor(_ context.Context, s *Spec, folder string) (*program, error) {
	const files = 4
	paths, err := writeFiles(folder, s.Seed, files, s.Size*kib)
	if err != nil {
		return nil, err
	}
	to, next := gzip.NewWriter(io.Discard), 0
	round := func(context.Context) error {
		path := paths[next%files]
		next++
		return withFile(path, func(file *os.File) error {
			to.Reset(io.Discard)
			if _, err := io.Copy(to, file); err != nil {
				return err
			}
			return to.Close()
		})
	}
	return &program{round, nothingToClose}, nil
}

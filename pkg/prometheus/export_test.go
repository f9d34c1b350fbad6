package prometheus

import "io"

// SumOf is for fuzzing without a server.
func SumOf(page io.Reader, name string) (float64, error) { return sumOf(page, name, nil) }

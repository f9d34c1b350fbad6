package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// open opens a file, or standard input for "-" where that may be. name is for
// messages.
func open(path string, stdin io.Reader) (file io.ReadCloser, name string, err error) {
	if path == "-" && stdin != nil {
		return io.NopCloser(stdin), "standard input", nil
	}
	file, err = os.Open(filepath.Clean(path))
	return file, filepath.Base(path), err
}

// eachDocument hands over the documents of YAML or JSON files, any number in each,
// that hold anything. What take says is wrong with one is said of its file and
// number.
func eachDocument(paths []string, stdin io.Reader, take func(document []byte) error) error {
	for _, path := range paths {
		file, name, err := open(path, stdin)
		if err != nil {
			return err
		}
		err = eachDocumentOf(name, file, take)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func eachDocumentOf(name string, file io.Reader, take func(document []byte) error) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(file))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(bytes.TrimSpace(stripComments(document))) == 0 {
			continue
		}
		if err := take(document); err != nil {
			return fmt.Errorf("%s, document %d: %w", name, number, err)
		}
	}
}

// stripComments removes comment lines and document markers, to see whether
// anything is left.
func stripComments(document []byte) []byte {
	var rest []byte
	for line := range bytes.Lines(document) {
		if text := bytes.TrimSpace(line); !bytes.HasPrefix(text, []byte("#")) && !bytes.Equal(text, []byte("---")) {
			rest = append(rest, line...)
		}
	}
	return rest
}

// Package input reads the files that verbs take: the documents of YAML and JSON, as
// kubectl apply takes them, manifests of Loadline's API, and pods and nodes, as kubectl
// get prints them.
package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Open opens a file, or standard input for "-" where that may be. name is for
// messages.
func Open(path string, stdin io.Reader) (file io.ReadCloser, name string, err error) {
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
		file, name, err := Open(path, stdin)
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
	for d, err := range Documents(file) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := take(d.Text); err != nil {
			return fmt.Errorf("%s, document %d: %w", name, d.Number, err)
		}
	}
	return nil
}

// Document is one document of a file. Numbers and lines count from 1.
type Document struct {
	Number, Line int
	Text         []byte
}

// Documents returns the documents of a file that hold anything: YAML between lines of
// dashes, or JSON objects one after the other. As kubectl does, it heeds the byte order
// mark of UTF-8 and UTF-16, and takes either end of a line.
func Documents(file io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		text, err := io.ReadAll(transform.NewReader(file, unicode.BOMOverride(transform.Nop)))
		if err != nil {
			yield(Document{}, err)
			return
		}
		rest := append(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), '\n')
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(rest)))
		newline := []byte("\n")
		for number, line := 0, 1; ; {
			part, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			before, after, _ := bytes.Cut(rest, part) // before is the separator
			line, rest = line+bytes.Count(before, newline), after
			for _, one := range objectsOf(part) {
				number++
				one.Number, one.Line = number, line+one.Line
				if len(bytes.TrimSpace(stripComments(one.Text))) > 0 && !yield(one, nil) {
					return
				}
			}
			line += bytes.Count(part, newline)
		}
	}
}

// objectsOf returns the JSON objects that follow each other in a document, which is one
// of YAML if it is no such row. Lines are those before it.
func objectsOf(part []byte) []Document {
	whole := []Document{{Text: part}}
	if !utilyaml.IsJSONBuffer(part) {
		return whole
	}
	var all []Document
	decoder := json.NewDecoder(bytes.NewReader(part))
	for begin := int64(0); ; begin = decoder.InputOffset() {
		var one json.RawMessage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			return whole
		}
		before, _, _ := bytes.Cut(part[begin:], one)
		all = append(all, Document{Text: one, Line: bytes.Count(part[:begin], []byte("\n")) + bytes.Count(before, []byte("\n"))})
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

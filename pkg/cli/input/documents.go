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
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"loadline.dev/loadline/apis/decode"
)

// eachObject hands over the objects of YAML or JSON files, in JSON: those of the documents
// that hold anything, and of lists the items. What take says is wrong with one is said of
// its file and number.
func eachObject(sources []Source, stdin io.Reader, take func(object []byte) error) error {
	for _, s := range sources {
		file, _, err := Open(s.Path, stdin)
		if err != nil {
			return err
		}
		err = eachObjectOf(s.Name, file, take)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func eachObjectOf(name string, file io.Reader, take func(object []byte) error) error {
	for d, err := range Documents(file) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := takeObjects(d.Text, take); err != nil {
			return fmt.Errorf("%s, document %d: %w", name, d.Number, err)
		}
	}
	return nil
}

// takeObjects hands over the object that a document is, or the items of the list.
func takeObjects(document []byte, take func(object []byte) error) error {
	document, err := decode.JSON(document)
	if err != nil {
		return err
	}
	var list struct {
		metav1.TypeMeta `json:",inline"`

		Items json.RawMessage `json:"items"`
	}
	isList := utiljson.Unmarshal(document, &list) == nil && list.Items != nil && strings.HasSuffix(list.Kind, "List") //nolint:forbidigo // what is no list is looked at as an object
	if isList {
		return takeItems(list.Items, list.TypeMeta, take)
	}
	if err := checkObject(document); err != nil {
		return err
	}
	return take(document)
}

// takeItems hands over the items of a list. In a list such as a PodList they have the kind
// that it says, if they say none. Null is a list of none. The first one without a name ends it: items of nothing
// take few bytes each, and much memory as objects.
func takeItems(items []byte, list metav1.TypeMeta, take func(object []byte) error) error {
	decoder := json.NewDecoder(bytes.NewReader(items)) //nolint:forbidigo // it is JSON, and only taken apart
	switch begin, err := decoder.Token(); {
	case err == nil && begin == nil: // null, as Go encodes a list of none
		return nil
	case err != nil || begin != json.Delim('['):
		return errors.New("items: is not a list")
	}
	of := metav1.TypeMeta{Kind: strings.TrimSuffix(list.Kind, "List"), APIVersion: list.APIVersion}
	for i := 0; decoder.More(); i++ {
		var item json.RawMessage
		err := decoder.Decode(&item)
		if err == nil {
			err = takeItem(item, of, take)
		}
		if err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return nil
}

func takeItem(item []byte, of metav1.TypeMeta, take func(object []byte) error) error {
	var header struct {
		metav1.TypeMeta `json:",inline"`

		Metadata struct {
			Name         string `json:"name"`
			GenerateName string `json:"generateName"`
		} `json:"metadata"`
	}
	known := utiljson.Unmarshal(item, &header) == nil //nolint:forbidigo // else take says what is wrong with it
	if known && header.Kind == "" && header.APIVersion == "" && of.Kind != "" && item[0] == '{' {
		said, err := json.Marshal(of)
		if err != nil {
			return err
		}
		item = slices.Concat(said[:len(said)-1], []byte(","), item[1:])
	}
	if err := takeObjects(item, take); err != nil || !known || header.Metadata.Name != "" || header.Metadata.GenerateName != "" {
		return err
	}
	return errors.New("metadata.name: there is none")
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
		text, err := readAll(file)
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
				if isEmpty(one.Text) && number <= maxDocuments {
					continue
				}
				if err := one.check(); err != nil {
					yield(Document{}, err)
					return
				}
				if !yield(one, nil) {
					return
				}
			}
			line += bytes.Count(part, newline)
		}
	}
}

// readAll reads a file up to its limit.
func readAll(file io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(Text(file), maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file has more than %d MiB; files up to that size are read", maxFile>>20)
	}
	return text, err
}

// check refuses a document that is one too many, or of a shape that is not read.
func (d *Document) check() error {
	if d.Number > maxDocuments {
		return fmt.Errorf("the file has more than %d documents; files of up to that many are read", maxDocuments)
	}
	if err := checkShape(d.Text); err != nil {
		return fmt.Errorf("document %d: %w", d.Number, err)
	}
	return nil
}

// objectsOf returns the JSON objects that follow each other in a document, which is one
// of YAML if it is no such row. Lines are those before it.
func objectsOf(part []byte) []Document {
	whole := []Document{{Text: part}}
	if !utilyaml.IsJSONBuffer(part) {
		return whole
	}
	var all []Document
	decoder, line, newline := json.NewDecoder(bytes.NewReader(part)), 0, []byte("\n") //nolint:forbidigo // only taken apart
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
		line += bytes.Count(before, newline)
		all = append(all, Document{Text: one, Line: line})
		line += bytes.Count(one, newline)
	}
}

// isEmpty reports whether a document has but comment lines and document markers.
func isEmpty(document []byte) bool {
	for line := range bytes.Lines(document) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' && string(text) != "---" {
			return false
		}
	}
	return true
}

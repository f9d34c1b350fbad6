package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// record is a line of a log.
type record struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Service string    `json:"service"`
	Message string    `json:"message"`
	Status  int       `json:"status"`
	Seconds float64   `json:"seconds"`
}

// logLines returns a log of about a number of bytes.
func logLines(seed uint64, size int) ([]byte, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("%x", random.Uint64N(1<<(4+4*random.Uint64N(8))))
	}
	word := func() string { return words[random.IntN(len(words))] }
	levels, statuses := []string{"debug", "info", "info", "info", "warn", "error"}, []int{200, 200, 200, 204, 304, 404, 500}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	moment := time.Unix(1<<30, 0).UTC()
	for text.Len() < size {
		moment = moment.Add(time.Duration(random.ExpFloat64() * float64(time.Millisecond)))
		err := encoder.Encode(record{
			Time: moment, Level: levels[random.IntN(len(levels))], Service: "service-" + words[random.IntN(20)],
			Message: fmt.Sprintf("%s %s of %s for %s", word(), word(), word(), word()),
			Status:  statuses[random.IntN(len(statuses))], Seconds: random.ExpFloat64(),
		})
		if err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// writeFiles writes some files of logs of the same size into a folder, and returns their paths.
func writeFiles(folder string, seed uint64, files, size int) ([]string, error) {
	paths := make([]string, files)
	for i := range paths {
		text, err := logLines(seed+uint64(i), size)
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.Join(folder, fmt.Sprintf("log-%03d", i))
		if err := os.WriteFile(paths[i], text, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// withFile opens a file for something to be done with it.
func withFile(path string, do func(*os.File) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(do(file), file.Close())
}

func nothingToClose() error { return nil }

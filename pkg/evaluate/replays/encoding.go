package replays

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"loadline.dev/loadline/pkg/text"
)

// maxEncoded is the longest text of an encoded result: the limit of Kubernetes for the termination
// message of a container.
const maxEncoded = 4096

// Encode writes a result as a text of at most 4096 bytes. Where it would be longer
// it shortens the texts that say why jobs were dropped and skipped, and if that is
// not enough, leaves out the quantiles of the dilation.
func (r *Result) Encode() (string, error) {
	short := *r
	for _, limit := range []int{1024, 256, 64} {
		short.FirstDrop, short.FirstSkip = text.Abridge(r.FirstDrop, limit), text.Abridge(r.FirstSkip, limit)
		if text, err := short.pack(); err != nil || len(text) <= maxEncoded {
			return text, err
		}
	}
	short.DilationQuantiles = nil
	text, err := short.pack()
	if err == nil && len(text) > maxEncoded {
		return "", fmt.Errorf("the result of policy %s, seed %d takes %d bytes, more than %d: name fewer resources", r.Policy, r.Seed, len(text), maxEncoded)
	}
	return text, err
}

func (r *Result) pack() (string, error) {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zipper).Encode(r); err != nil {
		return "", err
	}
	if err := zipper.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// DecodeResult reads the output of Encode.
func DecodeResult(text string) (*Result, error) {
	if len(text) > maxEncoded {
		return nil, fmt.Errorf("a result of %d bytes is longer than %d", len(text), maxEncoded)
	}
	r, err := unpack(text)
	if err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return r, nil
}

func unpack(text string) (*Result, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	unzipper, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	const largest = 1 << 20 // far more than any result, and little
	plain, err := io.ReadAll(io.LimitReader(unzipper, largest))
	if err != nil {
		return nil, err
	}
	r := &Result{}
	return r, json.Unmarshal(plain, r)
}

package arrivals

import (
	"encoding/binary"
	"math/rand/v2"
)

// Stream is what the random numbers of a [Source] are for. Any number may be
// used; those below are the package's own.
type Stream uint64

// The streams that a generated trace has.
const (
	Gaps  Stream = iota + 1 // between arrivals
	Types                   // of the jobs
)

// Source returns the source of a stream's random numbers. Sources of different
// seeds or streams are independent for all practical purposes: each is ChaCha8
// with a key of its own. (Two PCGs whose seeds differ in the stream's bits would
// walk the same sequence from places close together.)
func Source(seed uint64, stream Stream) rand.Source {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(stream))
	return rand.NewChaCha8(key)
}

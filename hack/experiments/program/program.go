// Package program has real programs in small: a compressor, a database, a web server under load, a compiler, a numerical library, a
// log shipper and a backup. Each goes through rounds of a pause and a fixed piece of work, and says itself how long they took. What
// two runs of a program took, alone and beside others, gives its dilation.
//
// [Run] runs a [Spec] for a time that begins and ends when the caller says, and returns an [Account]. Programs keep their files
// in a folder of their own, and use no network but the loopback.
package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is a kind of program.
type Kind string

// The kinds of programs, and what the size of a Spec is.
const (
	// Compressor reads files and compresses them: KiB a round.
	Compressor Kind = "compressor"
	// Database commits changes to a B+ tree on disk: pairs of a key and a value that a transaction writes.
	Database Kind = "database"
	// Web answers requests with a page: rows of its table. Clients send requests and wait for the answers.
	Web Kind = "web"
	// Compiler parses and checks packages of Go's standard library: packages a round.
	Compiler Kind = "compiler"
	// Numerical multiplies and factorizes matrices: their order.
	Numerical Kind = "numerical"
	// Shipper reads a log, parses its lines, compresses them and sends them to a collector: lines a round.
	Shipper Kind = "shipper"
	// Backup walks files, hashes them and copies them to the disk: files a round.
	Backup Kind = "backup"
)

// Spec is a program with its parameters.
type Spec struct {
	Kind Kind `json:"kind"`
	// Size says how much a round works, at least 1; the kind says of what.
	Size int `json:"size"`
	// Think is how long the pause before each round is on average, 0 for none. Pauses are exponential, and at most five times that.
	Think time.Duration `json:"think"`
	// Clients is how many go through rounds at once, at least 1.
	Clients int `json:"clients"`
	// Seed is that of the pauses and of what files contain.
	Seed uint64 `json:"seed"`
}

// Validate returns an error that names the parameter which breaks a rule.
func (s *Spec) Validate() error {
	switch {
	case !slices.Contains(Kinds(), s.Kind):
		return fmt.Errorf("kind: %q is none of %q", s.Kind, Kinds())
	case s.Size < 1:
		return fmt.Errorf("size: %d is not at least 1", s.Size)
	case s.Think < 0:
		return fmt.Errorf("think: %v is negative", s.Think)
	case s.Clients < 1:
		return fmt.Errorf("clients: %d is not at least 1", s.Clients)
	case s.Clients > 1 && s.Kind != Web:
		return fmt.Errorf("clients: %d is not 1, and only the %s has several", s.Clients, Web)
	}
	return nil
}

// program is a program that is ready for rounds.
type program struct {
	// round does the work of a round. Clients call it at the same time.
	round func(context.Context) error
	close func() error
}

// opening makes a program ready. It may use the folder, which is empty.
type opening func(ctx context.Context, s *Spec, folder string) (*program, error)

func openings() map[Kind]opening {
	return map[Kind]opening{
		Compressor: openCompressor, Database: openDatabase, Web: openWeb, Compiler: openCompiler,
		Numerical: openNumerical, Shipper: openShipper, Backup: openBackup,
	}
}

// Kinds returns all kinds, in alphabetic order.
func Kinds() []Kind {
	return []Kind{Backup, Compiler, Compressor, Database, Numerical, Shipper, Web}
}

// errNothing means that a program has nothing to do its work with.
var errNothing = errors.New("there is nothing to work with")

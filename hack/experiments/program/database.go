package program

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

const (
	keys      = 20_000
	valueSize = 256
)

// openDatabase makes a database and fills it.
func openDatabase(_ context.Context, s *Spec, folder string) (*program, error) {
	db, err := bolt.Open(filepath.Join(folder, "database"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	d := &database{db: db, random: rand.New(rand.NewPCG(s.Seed, keys)), pairs: s.Size}
	if err := d.fill(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &program{d.commit, db.Close}, nil
}

// database is a B+ tree on disk.
type database struct {
	db     *bolt.DB
	random *rand.Rand
	value  [valueSize]byte
	pairs  int
}

func bucket() []byte { return []byte("pairs") }

func key(number int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(number)) }

func (d *database) fill() error {
	return d.db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket(bucket())
		if err != nil {
			return err
		}
		for number := range keys {
			if err := b.Put(key(number), d.value[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

// commit reads as many pairs as it writes, at random. They are on the disk when it returns.
func (d *database) commit(context.Context) error {
	return d.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket())
		for range d.pairs {
			if len(b.Get(key(d.random.IntN(keys)))) != valueSize {
				return errNothing
			}
			binary.BigEndian.PutUint64(d.value[:], d.random.Uint64())
			if err := b.Put(key(d.random.IntN(keys)), d.value[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

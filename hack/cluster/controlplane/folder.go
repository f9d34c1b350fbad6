package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// folder is where a control plane keeps its files. Only these names in it are touched.
type folder string

func (f folder) lockFile() string          { return filepath.Join(string(f), "lock") }
func (f folder) kubeconfig() string        { return filepath.Join(string(f), "kubeconfig") }
func (f folder) logs() string              { return filepath.Join(string(f), "logs") }
func (f folder) log(part string) string    { return filepath.Join(f.logs(), part+".log") }
func (f folder) data() string              { return filepath.Join(string(f), "etcd") }
func (f folder) secrets() string           { return filepath.Join(string(f), "credentials") }
func (f folder) secret(name string) string { return filepath.Join(f.secrets(), name) }

// claimedFolder is a folder that we alone use.
type claimedFolder struct {
	folder
	lock      *flock.Flock
	temporary bool
}

// claim makes the folder dir ready for a new control plane and keeps others out of it. With dir "" the folder is a
// temporary one.
func claim(dir string) (_ *claimedFolder, err error) {
	temporary := dir == ""
	if temporary {
		dir, err = os.MkdirTemp("", "loadline-cluster-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}

	f := folder(dir)
	claimed := &claimedFolder{folder: f, lock: flock.New(f.lockFile()), temporary: temporary}
	ours, err := claimed.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ours {
		return nil, fmt.Errorf("a control plane already runs in %s: stop it, or choose another folder", dir)
	}
	if err := claimed.prepare(); err != nil {
		return nil, errors.Join(err, claimed.release())
	}
	return claimed, nil
}

// prepare removes what an earlier control plane left and makes the folders that a new one needs.
func (f *claimedFolder) prepare() error {
	if err := os.WriteFile(f.lockFile(), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	if err := f.removeState(); err != nil {
		return err
	}
	if err := os.RemoveAll(f.logs()); err != nil {
		return err
	}
	for _, dir := range []string{f.logs(), f.secrets()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// release removes the folder when it is a temporary one, else all in it but the logs, and lets others in.
func (f *claimedFolder) release() error {
	remove := f.removeState
	if f.temporary {
		remove = func() error { return os.RemoveAll(string(f.folder)) }
	}
	return errors.Join(remove(), f.lock.Unlock())
}

func (f *claimedFolder) removeState() error {
	return errors.Join(os.RemoveAll(f.kubeconfig()), os.RemoveAll(f.data()), os.RemoveAll(f.secrets()))
}

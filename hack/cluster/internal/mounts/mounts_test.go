//go:build linux

package mounts

import (
	"slices"
	"testing"
)

func TestMountsBelowOurFoldersAreUnmountedTheDeepestFirst(t *testing.T) {
	t.Parallel()
	const mounts = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:4 / /run/loadline-docker/netns/default rw - nsfs nsfs rw
31 22 0:40 / /cache/docker/data/overlay2/x/merged rw - overlay overlay rw
32 31 0:41 / /cache/docker/data/overlay2/x/merged/proc rw - proc proc rw
33 22 0:42 / /cache/docker-of-another rw - tmpfs tmpfs rw
`
	got := pointsBelow(mounts, "/run/loadline-docker", "/cache/docker")
	want := []string{"/cache/docker/data/overlay2/x/merged/proc", "/cache/docker/data/overlay2/x/merged", "/run/loadline-docker/netns/default"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package probe

import "testing"

func TestADiskIsNeverMadeTooFull(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	tests := map[string]struct {
		space space
		size  int64
		want  string
	}{
		"an empty disk":                  {space{100 * gib, 100 * gib}, gib, ""},
		"as much as a tenth allows":      {space{100 * gib, 11 * gib}, gib, ""},
		"more than a tenth allows":       {space{100 * gib, 11*gib - 1}, gib, "would leave 10239 MiB of the file system free"},
		"as much as 1 GiB allows":        {space{4 * gib, 2 * gib}, gib, ""},
		"more than 1 GiB allows":         {space{4 * gib, 2*gib - 1}, gib, "1 GiB, so 1024 MiB, stay free"},
		"more than there is":             {space{4 * gib, 0}, gib, "a file of 1024 MiB"},
		"a file system of no known size": {space{}, 1, "stay free"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.space.admits(test.size)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, test.want)
		})
	}
}

package trace

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// zipped returns a zip archive of some files with a trace each, compressed or not.
func zipped(t *testing.T, method uint16, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, csvHeader+"a,t,0,1,1,1,,1,1,1,2,n\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarred returns a tar archive with a trace.
func tarred(t *testing.T, format tar.Format) []byte {
	t.Helper()
	content := csvHeader + "a,t,0,1,1,1,,1,1,1,2,n\n"
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "week.csv", Mode: 0o644, Size: int64(len(content)), Format: format}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packedBy returns what a program made of the file "arrival,type\n0,a\n", or of an
// empty one.
func packedBy(t *testing.T, program string) []byte {
	t.Helper()
	content, err := hex.DecodeString(map[string]string{
		"bzip2":            "425a6839314159265359a9377a41000003d980001000044000222455202000310340d020d340049931a2f2b809def177245385090a9377a410",
		"bzip2 of nothing": "425a683917724538509000000000",
		"xz":               "fd377a585a000004e6d6b4460200210116000000742fe5a30100106172726976616c2c747970650a302c610a0000000093a75d3aaa3a778400012911320a700e1fb6f37d010000000004595a",
		"xz of nothing":    "fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a",
		"zstd":             "28b52ffd24118900006172726976616c2c747970650a302c610a3a095137",
		"zstd of nothing":  "28b52ffd240001000099e9d851",
		"7z, its header":   "377abcaf271c0004b5e2c3d11100000000000000",
	}[program])
	if err != nil || len(content) == 0 {
		t.Fatalf("%s: %d bytes, %v", program, len(content), err)
	}
	return content
}

func TestPackedTracesAreRefusedWithTheRemedyInEveryFormat(t *testing.T) {
	t.Parallel()
	const zip1, tar1, bzip2, xz, zstd = "a zip archive", "a tar archive", "compressed with bzip2", "compressed with xz", "compressed with zstd"
	one := zipped(t, zip.Deflate, "week.csv")
	for name, test := range map[string]struct {
		content      []byte
		what, remedy string
	}{
		"a zip archive of one file":     {one, zip1, "unzip"},
		"of a file that is only stored": {zipped(t, zip.Store, "week.csv"), zip1, "unzip"},
		"of several files":              {zipped(t, zip.Deflate, "week.csv", "month.csv"), zip1, "unzip"},
		"of none":                       {zipped(t, zip.Deflate), zip1, "unzip"},
		"that is cut short":             {one[:len(one)/2], zip1, "unzip"},
		"of which four bytes are left":  {one[:4], zip1, "unzip"},
		"that is compressed with gzip":  {gzipped(t, one), zip1, "unzip"},
		"a tar archive":                 {tarred(t, tar.FormatUSTAR), tar1, "tar -xf"},
		"a GNU tar archive":             {tarred(t, tar.FormatGNU), tar1, "tar -xf"},
		"a compressed tar archive":      {gzipped(t, tarred(t, tar.FormatPAX)), tar1, "tar -xf"},
		"bzip2":                         {packedBy(t, "bzip2"), bzip2, "bunzip2"},
		"an empty file by bzip2":        {packedBy(t, "bzip2 of nothing"), bzip2, "bunzip2"},
		"xz":                            {packedBy(t, "xz"), xz, "unxz"},
		"an empty file by xz":           {packedBy(t, "xz of nothing"), xz, "unxz"},
		"zstd":                          {packedBy(t, "zstd"), zstd, "unzstd"},
		"an empty file by zstd":         {packedBy(t, "zstd of nothing"), zstd, "unzstd"},
		"7z":                            {packedBy(t, "7z, its header"), "a 7z archive", "7z x"},
		"gzip, twice":                   {gzipped(t, gzipped(t, []byte(csvHeader))), "compressed with gzip twice", "gunzip"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := "trace: is " + test.what + "; a trace must be plain text, or plain text compressed with gzip: unpack it first, with " + test.remedy
			for _, format := range Formats() {
				// A stream comes in parts.
				jobs := Jobs("trace", iotest.OneByteReader(bytes.NewReader(test.content)), Options{Format: format})
				n := 0
				for _, err := range jobs {
					var e *Error
					if n++; !errors.As(err, &e) || err.Error() != want {
						t.Errorf("%s: error = %v, want %s", format, err, want)
					}
				}
				if n != 1 {
					t.Errorf("%s: %d jobs and errors, want one error", format, n)
				}
			}
		})
	}
}

// Text that only looks a little like an archive is text: by how it begins, or by what
// is where an archive has its name.
func TestTextIsNotTakenForAnArchive(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"PK", "BZh9", "BZh91AY", "7z", "xz", strings.Repeat("x", 257) + "ustar"} {
		text := first + ",name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
			",a,1000,0,0,0,,LS,Running,0,9,1\n"
		if jobs, err := readJobs(text, Options{Format: Openb}); err != nil || len(jobs) != 1 {
			t.Errorf("a column %q: %d jobs, %v", first, len(jobs), err)
		}
	}
}

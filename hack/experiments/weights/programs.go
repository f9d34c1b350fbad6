package main

import (
	_ "embed"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// preparing is how long programs may take to be ready.
const preparing = 7 * time.Second

// scratch is a folder that pods may write to.
const scratch = "/scratch"

// program is a real program, of the node: Debian's packages nginx-light, postgresql, python3-numpy, gcc, xz-utils, zstd
// and sqlite3.
type program struct {
	prepare string
	url     string
	think   time.Duration
	command []string
}

// programs returns the programs by name.
func programs() map[string]*program {
	const ms = time.Millisecond
	return map[string]*program{
		// Compressors of programs of 1 and 7 MB.
		"xz":   {command: []string{"/usr/bin/xz", "-1", "-T1", "-k", "-c", "/usr/bin/bash"}},
		"zstd": {command: []string{"/usr/bin/zstd", "-q", "-6", "-T1", "-c", "/usr/bin/python3.11"}, think: 150 * ms},
		// A compiler, with assembler and linker.
		"gcc": {prepare: source, command: []string{"/usr/bin/gcc", "-O2", "-o", scratch + "/queens", scratch + "/queens.c"}},
		// A database, on disk.
		"sqlite": {
			prepare: "echo 'CREATE TABLE t(a, b); PRAGMA journal_mode=WAL;' | sqlite3 " + scratch + "/db",
			command: []string{"/usr/bin/sqlite3", scratch + "/db", sqliteScript},
		},
		// A database server and its client, which thinks for 5 ms between queries.
		"postgres": {prepare: postgresScript, command: []string{"/usr/bin/pgbench", "-h", scratch, "-n", "-f", scratch + "/query.sql", "-t", "40", "postgres"}},
		// A web server that compresses its pages, and a client that thinks for 10 ms after each.
		"nginx": {
			prepare: nginxScript, url: "http://127.0.0.1:8080/page.txt", think: 10 * ms,
			command: []string{"/usr/sbin/nginx", "-p", scratch, "-c", scratch + "/nginx.conf", "-e", scratch + "/error.log"},
		},
		// A numerical library, OpenBLAS below NumPy, and half a second of something else.
		"numpy": {command: []string{"/usr/bin/python3", "-c", numpyScript}, think: 500 * ms},
	}
}

//go:embed programs/gcc.sh
var source string

//go:embed programs/postgres.sh
var postgresScript string

//go:embed programs/nginx.sh
var nginxScript string

const sqliteScript = `BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20000)
INSERT INTO t SELECT i, hex(randomblob(20)) FROM n; COMMIT; SELECT count(DISTINCT substr(b, 1, 4)) FROM t; DELETE FROM t;`

const numpyScript = `import os; os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy
a = numpy.random.default_rng(1).random((900, 900))
numpy.linalg.solve(a, a @ a)`

// programMixes are pairs and threes of real programs on one core.
func programMixes() []string {
	return []string{
		"500m xz, 100m gcc",
		"500m nginx, 50m xz",
		"50m nginx, 500m xz",
		"400m postgres, 100m gcc",
		"50m postgres, 500m numpy",
		"200m numpy, 100m zstd",
		"600m zstd, 60m nginx",
		"300m sqlite, 100m xz",
		"400m postgres, 100m nginx, 50m gcc",
		"300m nginx, 100m numpy, 100m xz",
		"50m sqlite, 200m gcc, 400m zstd",
		"0 xz, 100m postgres, 400m numpy",
		"100m nginx, 100m postgres",
		"100m gcc, 100m zstd, 100m numpy",
	}
}

// arguments are those of steady.
func (p *program) arguments() []string {
	arguments := []string{"--think", p.think.String(), "--prepare", p.prepare, "--get", p.url, "--"}
	return append(arguments, p.command...)
}

// mount gives a pod the programs of its node, and a folder that it may write to.
func mount(pod *corev1.Pod) {
	c := &pod.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "PATH", Value: "/usr/bin:/bin:/usr/sbin"}, {Name: "TMPDIR", Value: scratch}}
	for _, path := range []string{"/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/usr/include", "/etc/alternatives"} {
		name := "node" + strings.ReplaceAll(path, "/", "-")
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: path},
		}})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "scratch", MountPath: scratch})
}

// Package image makes container images of static programs, without Docker: one layer with the program, a user who
// is nobody, and a place for temporary files. The archives are what "docker save" writes, so that "ctr images
// import", "docker load" and "kind load image-archive" all read them. The same program gives the same archive.
package image

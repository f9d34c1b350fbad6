// Package image makes container images of static Go programs, without Docker. An image is one layer, with the program,
// a user without rights and a place for temporary files; which platform it is for, and what it says of itself, comes from
// the program, which the go command has stamped with its version, its commit and the commit's date.
//
// There are two forms: archives, which "ctr images import", "docker load" and "kind load image-archive" read, and OCI
// layouts, which registries take, with every platform that a program was built for. Nothing in them depends on when, where or
// how often they are made: the same programs give the same bytes, and so the same digest.
//
// go-containerregistry assembles the images. The libraries above it cannot make these: ko compiles what it packs, so
// that an image would not hold the very file that a release's archive and bill of materials are of, and it asks for a
// base image, of which there is none here; apko installs packages of Alpine.
package image

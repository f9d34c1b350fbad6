// Package release tests the files that releases are made with: the Dockerfile, the workflows, the Makefile's targets for
// them, what GoReleaser reads, and the versions that Go modules pin. What they do can only be seen where there is Docker and a forge; what is tested here is what can be wrong
// with them before.
//
// Its module pins the tools that make and check releases.
package release

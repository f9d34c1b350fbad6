package profile

// Read returns the part of a profile that the index reads.
var Read = read

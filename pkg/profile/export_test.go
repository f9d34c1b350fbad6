package profile

// Read returns what the index reads of a profile.
var Read = read

package cli

// NewRoot returns the command line as cobra has it.
var NewRoot = newRoot

// Complete makes the shell complete the values of the flags of all verbs.
var Complete = complete

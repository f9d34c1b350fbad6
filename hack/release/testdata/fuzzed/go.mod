module example.com/fuzzed

go 1.26.0

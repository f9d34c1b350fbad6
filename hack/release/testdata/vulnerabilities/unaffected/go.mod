module example.com/unaffected

go 1.26.0

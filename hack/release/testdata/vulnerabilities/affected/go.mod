module example.com/affected

go 1.26.0

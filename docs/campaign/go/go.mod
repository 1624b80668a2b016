module flashlab.example/campaign

go 1.22

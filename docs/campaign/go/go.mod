module flashlab.example/campaign

go 1.25.0

require (
	github.com/natefinch/atomic v1.0.1
	github.com/peterbourgon/diskv/v3 v3.0.1
	github.com/syndtr/goleveldb v1.0.0
	github.com/tidwall/buntdb v1.3.0
	github.com/tidwall/wal v1.2.1
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/golang/snappy v0.0.0-20180518054509-2e65f85255db // indirect
	github.com/google/btree v1.0.0 // indirect
	github.com/tidwall/btree v1.4.2 // indirect
	github.com/tidwall/gjson v1.14.3 // indirect
	github.com/tidwall/grect v0.1.4 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	github.com/tidwall/rtred v0.1.2 // indirect
	github.com/tidwall/tinylru v1.1.0 // indirect
	github.com/tidwall/tinyqueue v0.1.1 // indirect
	go.etcd.io/bboltold v1.3.2
	golang.org/x/sys v0.45.0 // indirect
)

replace go.etcd.io/bboltold => go.etcd.io/bbolt v1.3.2

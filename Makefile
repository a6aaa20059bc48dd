# Nothing here is needed: every target is a go command that can be typed. `go test ./...` is the whole test command.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: all build test race bench fmt check recording screenshots clean

all: build

build: # the program, ./tenon
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o tenon$(shell go env GOEXE) ./cmd/tenon

test: # what a change must pass
	go test ./...

race: # the tests with the race detector; needs a C compiler
	CGO_ENABLED=1 go test -race ./...

bench: # the figures of docs/developers/performance.md
	go test -run '^$$' -bench . -benchmem ./...

fmt: # formats all code
	go tool gofumpt -w .

check: # what CI does
	bash .ci/run

recording: # the session in README.md
	go run ./internal/testkit/screenshots -readme

screenshots: # what people see, as texts and images in dist/screenshots
	go run ./internal/testkit/screenshots

clean:
	rm -f tenon tenon.exe

package main

import (
	"errors"

	"github.com/anishathalye/porcupine"
)

// What a key holds. Each change gives it a version above all before; which one is seen when it is read: version is that
// of the item if it isRead, otherwise one that is below it.
type item struct {
	exists  bool
	value   uint64
	version uint64
	isRead  bool
}

type request struct {
	operation          string
	argument, expected uint64
}

type answer struct {
	outcome        string
	value, version uint64
}

// The state is an item; it does not exist at the beginning.
var key = porcupine.Model{
	Init: func() any { return item{} },
	Step: func(state, input, output any) (bool, any) {
		return state.(item).step(input.(request), output.(answer))
	},
}

func (held item) canHave(version uint64) bool {
	if held.isRead {
		return version == held.version
	}
	return version > held.version
}

// Another value, whose version is above the one that is known.
func (held item) with(value uint64) item {
	return item{exists: true, value: value, version: held.version}
}

func (held item) step(asked request, got answer) (bool, item) {
	switch asked.operation {
	case "set":
		return got.outcome == "ok", held.with(asked.argument)
	case "add":
		if held.exists {
			return got.outcome == "exists", held
		}
		return got.outcome == "ok", held.with(asked.argument)
	case "replace":
		if !held.exists {
			return got.outcome == "missing", held
		}
		return got.outcome == "ok", held.with(asked.argument)
	}
	if !held.exists {
		return got.outcome == "missing", held
	}
	if asked.operation == "compare_and_set" && got.outcome == "exists" {
		return !held.isRead || held.version != asked.expected, held
	}
	if got.outcome != "ok" {
		return false, held
	}
	return held.succeed(asked, got)
}

// A request for an item that exists.
func (held item) succeed(asked request, got answer) (bool, item) {
	switch asked.operation {
	case "get":
		return got.value == held.value, held
	case "get_version":
		isRead := item{true, held.value, got.version, true}
		return got.value == held.value && held.canHave(got.version), isRead
	case "compare_and_set":
		return held.canHave(asked.expected), item{exists: true, value: asked.argument, version: asked.expected}
	case "increment":
		return got.value == held.value+asked.argument, held.with(held.value + asked.argument)
	case "delete":
		return true, item{version: held.version}
	}
	panic(asked.operation + " is no operation of a store")
}

func parseRequest(words []string) (input, output any, err error) {
	if len(words) != 6 {
		return nil, nil, errors.New("a request and its answer have six words")
	}
	found, err := numbers([]string{words[1], words[2], words[4], words[5]})
	if err != nil {
		return nil, nil, err
	}
	return request{words[0], found[0], found[1]}, answer{words[3], found[2], found[3]}, nil
}

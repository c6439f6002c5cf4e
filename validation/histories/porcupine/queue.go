package main

import (
	"errors"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A push or a pop of up to asked elements, or of exactly as many if it waits, of a queue with so many places.
type call struct {
	isPush, waits bool
	places, asked int
}

// The state of the queue is its elements, the oldest first; the output of a call those that were pushed or popped.
var queue = porcupine.Model{
	Init: func() any { return []uint64{} },
	Step: func(state, input, output any) (bool, any) {
		return after(state.([]uint64), input.(call), output.([]uint64))
	},
	Equal: func(one, other any) bool { return slices.Equal(one.([]uint64), other.([]uint64)) },
}

func after(elements []uint64, asked call, done []uint64) (bool, any) {
	most := len(elements)
	if asked.isPush {
		most = asked.places - len(elements)
	}
	least := min(most, 1)
	if asked.waits {
		least = asked.asked
	}
	if len(done) < least || len(done) > min(most, asked.asked) {
		return false, elements
	}
	if asked.isPush {
		return true, slices.Concat(elements, done)
	}
	return slices.Equal(done, elements[:len(done)]), elements[len(done):]
}

func parseCall(words []string) (input, output any, err error) {
	if len(words) < 4 {
		return nil, nil, errors.New("words of a call are missing")
	}
	found, err := numbers(words[2:])
	if err != nil {
		return nil, nil, err
	}
	return call{words[0] == "push", words[1] == "waits", int(found[0]), int(found[1])}, found[2:], nil
}

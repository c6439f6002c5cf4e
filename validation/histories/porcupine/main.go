// Judges histories of bounded queues by porcupine. Input and output are those of the judge by stateright (../src/main.rs).
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

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

func operation(line string) (porcupine.Operation, error) {
	words := strings.Split(line, " ")
	if len(words) < 7 {
		return porcupine.Operation{}, fmt.Errorf("%q is not an operation", line)
	}
	numbers := make([]uint64, 0, len(words)-2)
	for _, word := range append(words[:1:1], words[3:]...) {
		number, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return porcupine.Operation{}, err
		}
		numbers = append(numbers, number)
	}
	return porcupine.Operation{
		ClientId: int(numbers[0]),
		Input:    call{words[1] == "push", words[2] == "waits", int(numbers[1]), int(numbers[2])},
		Call:     int64(numbers[3]),
		Output:   numbers[5:],
		Return:   int64(numbers[4]),
	}, nil
}

func main() {
	judged, wrong := 0, 0
	var history []porcupine.Operation
	lines := bufio.NewScanner(os.Stdin)
	for number := 1; lines.Scan(); number++ {
		if lines.Text() == "" {
			judged++
			if !porcupine.CheckOperations(queue, history) {
				wrong++
			}
			history = nil
			continue
		}
		next, err := operation(lines.Text())
		if err != nil {
			fmt.Fprintf(os.Stderr, "line %d: %v\n", number, err)
			os.Exit(2)
		}
		history = append(history, next)
	}
	fmt.Printf("%d histories, %d not linearizable\n", judged, wrong)
}

// Judges histories by porcupine, of a bounded queue or of a key of a store. Arguments, input and output are those of the
// judge by stateright (../src/main.rs).
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// An object whose histories are judged, and how an operation of it and its result are read from words.
type specification struct {
	model porcupine.Model
	parse func(words []string) (input, output any, err error)
}

var specifications = map[string]specification{"queue": {queue, parseCall}, "store": {key, parseRequest}}

func numbers(words []string) ([]uint64, error) {
	found := make([]uint64, 0, len(words))
	for _, word := range words {
		number, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, err
		}
		found = append(found, number)
	}
	return found, nil
}

func (object specification) operation(line string) (porcupine.Operation, error) {
	words := strings.Split(line, " ")
	if len(words) < 4 {
		return porcupine.Operation{}, fmt.Errorf("%q is not an operation", line)
	}
	when, err := numbers(words[:3])
	if err != nil {
		return porcupine.Operation{}, err
	}
	input, output, err := object.parse(words[3:])
	return porcupine.Operation{
		ClientId: int(when[0]), Input: input, Call: int64(when[1]), Output: output, Return: int64(when[2]),
	}, err
}

func main() {
	object, known := specification{}, false
	if len(os.Args) == 2 {
		object, known = specifications[os.Args[1]]
	}
	if !known {
		fmt.Fprintln(os.Stderr, "queue or store?")
		os.Exit(2)
	}
	judged, wrong := 0, 0
	var history []porcupine.Operation
	lines := bufio.NewScanner(os.Stdin)
	for number := 1; lines.Scan(); number++ {
		if lines.Text() == "" {
			judged++
			if !porcupine.CheckOperations(object.model, history) {
				wrong++
			}
			history = nil
			continue
		}
		next, err := object.operation(lines.Text())
		if err != nil {
			fmt.Fprintf(os.Stderr, "line %d: %v\n", number, err)
			os.Exit(2)
		}
		history = append(history, next)
	}
	fmt.Printf("%d histories, %d not linearizable\n", judged, wrong)
}

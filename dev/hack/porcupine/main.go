// Command histories judges recorded histories of clients of several masters with porcupine: each object must behave as
// one register with revisions. It prints one line for each file, and exits with 1 if a history is not linearizable.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// version is a stored value and the resourceVersion at which it was written. The zero version is an object that does
// not exist.
type version struct {
	Value    string `json:"value"`
	Revision int64  `json:"revision"`
}

// operation has the fields of dev/e2e/history/history-report.ts.
type operation struct {
	Client     string   `json:"client"`
	Key        string   `json:"key"`
	CalledMs   float64  `json:"calledMs"`
	AnsweredMs *float64 `json:"answeredMs"`
	Action     action   `json:"action"`
}

type action struct {
	Kind    string          `json:"kind"`
	Found   *version        `json:"found"`
	Value   string          `json:"value"`
	Expect  *int64          `json:"expect"`
	Outcome json.RawMessage `json:"outcome"`
}

type input struct {
	operation
	// seen is the revision at which anybody has seen the written value, or zero.
	seen int64
}

type outcome int

const (
	done outcome = iota
	refused
	unknown
)

// answerMax bounds the search in one history.
const answerMax = 2 * time.Minute

func main() {
	isSound := true
	for _, path := range os.Args[1:] {
		report, err := read(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		isSound = judge(path, report) && isSound
	}
	if !isSound {
		os.Exit(1)
	}
}

func read(path string) ([]operation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	var report struct {
		Operations []operation `json:"operations"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("cannot read the history %s: %w", path, err)
	}
	if len(report.Operations) == 0 {
		return nil, fmt.Errorf("cannot judge %s: it has no operations", path)
	}
	return report.Operations, nil
}

func judge(path string, operations []operation) bool {
	keys, history := historyOf(operations)
	if fault := twoRevisions(operations); fault != "" {
		fmt.Printf("%s: not linearizable: %s\n", path, fault)
		return false
	}
	for _, key := range keys {
		switch porcupine.CheckOperationsTimeout(register, history[key], answerMax) {
		case porcupine.Illegal:
			fmt.Printf("%s: not linearizable: %s\n", path, key)
			return false
		case porcupine.Unknown:
			fmt.Printf("%s: not judged within %s: %s\n", path, answerMax, key)
			return false
		}
	}
	fmt.Printf("%s: linearizable: %d operations on %s\n", path, len(operations), strings.Join(keys, ", "))
	return true
}

func historyOf(operations []operation) ([]string, map[string][]porcupine.Operation) {
	seen := map[string]int64{}
	clients := map[string]int{}
	for _, each := range operations {
		if of := versionIn(each); of != nil {
			seen[each.Key+" "+of.Value] = of.Revision
		}
		if _, known := clients[each.Client]; !known {
			clients[each.Client] = len(clients)
		}
	}
	history := map[string][]porcupine.Operation{}
	for _, each := range operations {
		history[each.Key] = append(history[each.Key], porcupine.Operation{
			ClientId: clients[each.Client],
			Input:    input{each, seen[each.Key+" "+each.Action.Value]},
			Call:     nanoseconds(each.CalledMs),
			Output:   outcomeOf(each),
			Return:   answeredAt(each),
		})
	}
	keys := make([]string, 0, len(history))
	for key := range history {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys, history
}

// versionIn returns the version that the answer has shown, if it has shown one.
func versionIn(each operation) *version {
	if each.Action.Kind == "read" {
		return each.Action.Found
	}
	var revision int64
	if json.Unmarshal(each.Action.Outcome, &revision) != nil {
		return nil
	}
	return &version{each.Action.Value, revision}
}

// twoRevisions returns the fault of a value that was seen at two revisions: no two writes have the same value.
func twoRevisions(operations []operation) string {
	seen := map[string]int64{}
	for _, each := range operations {
		of := versionIn(each)
		if of == nil {
			continue
		}
		name := each.Key + " " + of.Value
		if known, isKnown := seen[name]; isKnown && known != of.Revision {
			return fmt.Sprintf("%s at revisions %d and %d", name, known, of.Revision)
		}
		seen[name] = of.Revision
	}
	return ""
}

func outcomeOf(each operation) outcome {
	switch string(each.Action.Outcome) {
	case `"refused"`:
		return refused
	case `"unknown"`:
		return unknown
	}
	return done
}

func nanoseconds(milliseconds float64) int64 {
	return int64(milliseconds * 1e6)
}

// answeredAt returns the end of time for an operation without an answer: it may take effect at any time, or never.
func answeredAt(each operation) int64 {
	if each.AnsweredMs == nil || outcomeOf(each) == unknown {
		return math.MaxInt64
	}
	return nanoseconds(*each.AnsweredMs)
}

// unseen is the revision of a version that nobody has seen. No client can have expected it.
const unseen = int64(-1)

// state is the version of one object, and the last revision that is known.
type state struct {
	version
	floor int64
}

var register = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(before, given, answered any) (bool, any) {
		return step(before.(state), given.(input), answered.(outcome))
	},
	Equal: func(a, b any) bool { return a == b },
}

func step(before state, given input, answered outcome) (bool, any) {
	if given.Action.Kind == "read" {
		var found version
		if given.Action.Found != nil {
			found = *given.Action.Found
		}
		return before.version == found, before
	}
	fits := given.Action.Expect == nil || *given.Action.Expect == before.Revision
	switch {
	case answered == refused:
		return !fits, before
	case !fits:
		return answered == unknown, before
	case given.seen == 0:
		return true, state{version{given.Action.Value, unseen}, before.floor}
	}
	return given.seen > before.floor, state{version{given.Action.Value, given.seen}, given.seen}
}

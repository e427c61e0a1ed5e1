// Command simlint checks what the compiler cannot: that tidemark's packages
// import only what the design allows, and that the core, which one seed must
// replay on every machine, uses nothing that is not deterministic.
//
// It reads the whole module with go/types and prints one line for each fault,
// file:line: what is wrong and what to do; exit status 1 if there is any. It
// runs inside the ordinary tests.
//
// A loop over a map whose order cannot reach behaviour (it counts, or fills
// another map) says so in a comment on its line or the line above, beginning
// with "unordered:" and a reason.
package main

import (
	"fmt"
	"os"
)

func main() {
	faults, err := lint(".", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "simlint:", err)
		os.Exit(2)
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// Command settings prints what a seed draws.
package main

import (
	"fmt"

	"rnicmmu/verify/random"
)

func main() {
	for _, s := range random.Settings(12345) {
		fmt.Println(s)
	}
}

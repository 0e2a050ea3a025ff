package platform

import (
	"fmt"
	"os"
	"testing"
)

func TestZZBaseline(t *testing.T) {
	f, _ := os.Create(os.Getenv("ZZOUT"))
	for i, set := range diverse {
		fmt.Fprintln(f, i, hash(t, set))
	}
}

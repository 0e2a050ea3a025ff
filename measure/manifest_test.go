package measure

import (
	"os"
	"testing"
)

// A program without a commit, such as a test, is known by its code.
func TestBuildWithoutCommit(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	b := ThisBuild("1")
	if b.Version != "1" || b.Commit != "" || b.Binary != HashBytes(code) {
		t.Errorf("%+v, the program's hash is %s", b, HashBytes(code))
	}
}

package repotest

import (
	"github.com/resvec/resvec/internal/testkit"
	"log"
	"os"
	"testing"
)

// TestMain lets all tests name files as the documents do, from the root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// read returns the text of a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	b := testkit.Must(os.ReadFile(file))
	return string(b)
}

// Package repotest holds the tests of the repository as a whole: what imports what, what
// the documents say, and what all packages do alike. It has nothing else, and its tests
// run in the root of the repository.
package repotest

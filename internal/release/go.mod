module github.com/resvec/resvec/internal/release

go 1.25.0

require golang.org/x/mod v0.33.0

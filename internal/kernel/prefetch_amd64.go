//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./prefetch -out ../prefetch_amd64.s -stubs ../prefetch_stubs_amd64.go -pkg kernel

func prefetch(at *uintptr) {
	if active == Generic {
		prefetchGeneric(at)
		return
	}
	prefetchT0(at)
}

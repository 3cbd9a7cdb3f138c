package quota

import (
	"reflect"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	testkit.Zeros{
		Prefix: "quota: ",
		Functions: map[string]any{
			"New":               New,
			"NewMap":            NewMap,
			"ParseAlternatives": ParseAlternatives,
			"ReadQueues":        ReadQueues,
			"Restore":           Restore,
		},
		Types: []any{
			(*Amounts)(nil),
			(*Answer)(nil),
			(*Config)(nil),
			(*EntryError)(nil),
			(*Event)(nil),
			(*EventKind)(nil),
			(*Fits)(nil),
			(*Item)(nil),
			(*Job)(nil),
			(*JobRequest)(nil),
			(*JobStatus)(nil),
			(*Keys)(nil),
			(*Ledger)(nil),
			(*Min)(nil),
			(*Phase)(nil),
			(*Queue)(nil),
			(*QueueSpec)(nil),
			(*QueueStatus)(nil),
			(*Reason)(nil),
			(*Ref)(nil),
			(*Refusal)(nil),
			(*Report)(nil),
			(*Headroom)(nil),
			(*State)(nil),
			(*Task)(nil),
			(*TaskRequest)(nil),
			(*TaskPhase)(nil),
			(*UnnamedPolicy)(nil),
			(*Usage)(nil),
			(*View)(nil),
		},
		Others: []any{(*device.Catalog)(nil)},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*Ledger]():
				return gpus(t, Config{}, "q", "A:4").Ledger
			case reflect.TypeFor[*JobRequest]():
				return gpus(t, Config{}, "q", "A:4").job("j", "q", "A:1")
			case reflect.TypeFor[*TaskRequest]():
				return gpus(t, Config{}, "q", "A:4").task("t", "j", "q", "A:1")
			case reflect.TypeFor[*vectormap.ResourceVectorMap]():
				return must(NewMap([]string{"A"}))
			case reflect.TypeFor[Catalog]():
				return cluster(map[string]string{"n": "A:8"})
			case reflect.TypeFor[*vector.Mask]():
				return vector.NewMask(1)
			case reflect.TypeFor[string]():
				return "q"
			case reflect.TypeFor[vector.ResourceVector]():
				return vector.ResourceVector{1, 2, 3}
			case reflect.TypeFor[[]Queue]():
				return []Queue{{Name: "q"}}
			}
			return nil
		},
	}.Run(t)
}

package testkit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Zeros checks the exported functions and methods of a package with operands, or fields
// of them, that are nil, zero, or a number or text out of all proportion. Each call must
// work, panic with a text that starts with Prefix, or panic in Go's words for the use of
// a nil pointer. Any other panic of Go or of another package fails the test.
type Zeros struct {
	Prefix    string // what panics start with, such as "vector: "
	Functions []any  // the exported functions; of generic ones any instance
	Types     []any  // nil pointers of the exported types that are no interfaces
	Operands  []any  // a function for each type that there is a good operand of, which makes one
	Others    []any  // nil pointers of more types, for operands that are interfaces
}

// Run checks the package in the present folder.
func (z Zeros) Run(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range z.Functions {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() // such as example.com/p.F[...]
		name, _, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], "[")
		name = name[strings.Index(name, ".")+1:]
		listed[name] = true
		z.calls(t, name, reflect.ValueOf(f), nil)
	}
	for _, pointer := range z.Types {
		listed[reflect.TypeOf(pointer).Elem().Name()] = true
	}
	for _, name := range exported(t) {
		if !listed[name] {
			t.Errorf("%s is not in the lists", name)
		}
	}
	for _, pointer := range z.Types {
		typ := reflect.TypeOf(pointer)
		receivers := []reflect.Value{reflect.New(typ.Elem())}
		for _, of := range []reflect.Type{typ, typ.Elem()} {
			good := z.operand(of)
			if good.IsValid() && of != typ {
				pointer := reflect.New(of)
				pointer.Elem().Set(good)
				good = pointer
			}
			if good.IsValid() {
				receivers = append(receivers, good)
			}
		}
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			name := typ.Elem().Name() + "." + m.Name
			for _, receiver := range receivers {
				z.calls(t, name, m.Func, &receiver)
			}
		}
	}
}

// calls calls f, a method of receiver if there is one: each operand in turn is without
// a value, and the others are zeros, or good.
func (z Zeros) calls(t *testing.T, name string, f reflect.Value, receiver *reflect.Value) {
	typ, first := f.Type(), 0
	if receiver != nil {
		first = 1
	}
	call := func(bad int, x reflect.Value, others bool) {
		var args []reflect.Value
		for i := range typ.NumIn() {
			in, arg := typ.In(i), reflect.Value{}
			variadic := typ.IsVariadic() && i == typ.NumIn()-1
			if variadic {
				in = in.Elem()
			}
			switch {
			case i < first:
				arg = *receiver
			case i == bad:
				arg = x
			case variadic:
				continue
			case others:
				arg = z.operand(in)
			}
			if !arg.IsValid() {
				arg = reflect.Zero(in)
			}
			args = append(args, arg)
		}
		got := recovered(f, args)
		if text, ok := got.(string); got != nil && !isNilUse(got) && (!ok || !strings.HasPrefix(text, z.Prefix)) {
			of := ""
			if x.IsValid() {
				of = fmt.Sprintf(", operand %d is %#v", bad+1-first, x)
			}
			t.Errorf("%s%s, good others: %v: %v", name, of, others, got)
		}
	}
	for _, others := range []bool{false, true} {
		call(-1, reflect.Value{}, others)
		for i := first; i < typ.NumIn(); i++ {
			in := typ.In(i)
			if typ.IsVariadic() && i == typ.NumIn()-1 {
				in = in.Elem()
			}
			for _, x := range z.without(in) {
				if in.Kind() == reflect.Int && x.Int() == math.MaxInt && sized.MatchString(name) {
					continue // that many would be made
				}
				call(i, x, others)
			}
		}
	}
}

// isNilUse reports whether a panic is Go's for the use of a nil pointer, which no package
// checks for.
func isNilUse(panicked any) bool {
	err, ok := panicked.(runtime.Error)
	return ok && strings.Contains(err.Error(), "nil pointer dereference")
}

// sized matches the functions that make as much as a number says.
var sized = regexp.MustCompile(`\b(New|Resize|Reset)`)

// without returns what a program has of a type before there is a good value.
func (z Zeros) without(typ reflect.Type) []reflect.Value {
	all := []reflect.Value{reflect.Zero(typ)}
	add := func(x any) { all = append(all, reflect.ValueOf(x).Convert(typ)) }
	switch typ.Kind() {
	case reflect.Pointer:
		all = append(all, reflect.New(typ.Elem()))
	case reflect.Interface:
		for _, null := range slices.Concat(z.Types, z.Others) {
			if x := reflect.ValueOf(null); x.Type().Implements(typ) {
				all = append(all, x, reflect.New(x.Type().Elem()))
			}
		}
	case reflect.Slice:
		for _, x := range z.without(typ.Elem()) {
			all = append(all, reflect.Append(reflect.Zero(typ), x))
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits := 64 - typ.Bits()
		for _, i := range []int64{-1, 1, math.MaxInt64 >> bits, math.MinInt64 >> bits} {
			add(i)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		add(uint64(math.MaxUint64) >> (64 - typ.Bits()))
	case reflect.Float32, reflect.Float64:
		for _, f := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
			add(f)
		}
	case reflect.String:
		add("x")
		add("\xff")
	case reflect.Struct:
		for _, whole := range []reflect.Value{reflect.Zero(typ), z.operand(typ)} {
			for i := range typ.NumField() {
				field := typ.Field(i)
				if !whole.IsValid() || !field.IsExported() || strings.HasPrefix(typ.PkgPath(), "k8s.io/") || field.Type.Kind() == reflect.Pointer {
					continue // pointers may lead back
				}
				for _, bad := range z.without(field.Type) {
					x := reflect.New(typ).Elem()
					x.Set(whole)
					x.Field(i).Set(bad)
					all = append(all, x)
				}
			}
		}
	}
	return all
}

// operand makes a good operand of a type, if there is one.
func (z Zeros) operand(typ reflect.Type) reflect.Value {
	for _, f := range z.Operands {
		if f := reflect.ValueOf(f); f.Type().Out(0) == typ {
			return f.Call(nil)[0]
		}
	}
	return reflect.Value{}
}

// recovered calls f and goes through what it returns to be ranged over. It returns
// what that panics with.
func recovered(f reflect.Value, args []reflect.Value) (got any) {
	defer func() { got = recover() }()
	for _, result := range f.Call(args) {
		if typ := result.Type(); (typ.CanSeq() || typ.CanSeq2()) && typ.Kind() == reflect.Func && !result.IsNil() {
			more := reflect.MakeFunc(typ.In(0), func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(true)} })
			result.Call([]reflect.Value{more})
		}
	}
	return nil
}

// exported returns the names of the exported functions with a parameter of the package
// in the present folder, and of its exported types that are no interfaces, aliases or
// generic.
func exported(t *testing.T) (names []string) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() && d.Type.Params.NumFields() > 0 {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					_, isInterface := s.Type.(*ast.InterfaceType)
					if s.Name.IsExported() && !isInterface && s.TypeParams == nil && !s.Assign.IsValid() {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	return names
}

package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Nils checks that every exported function and method of a package says which
// operand is nil: each is called with good operands but one, which is nil.
type Nils struct {
	Prefix    string                 // what panics start with, such as "vector: "
	Functions map[string]any         // the exported functions by name; for generic ones any instance
	Types     []any                  // nil pointers of the exported types whose methods are called
	Operand   func(reflect.Type) any // a new good operand of a type, or nil to take the zero value
	Optional  []string               // operands that may be nil, such as "Rejections 3" or "Matrix.CopyFrom 1"; the receiver is 0
}

// Run checks the package in the present folder.
func (n Nils) Run(t *testing.T) {
	for _, name := range exportedFunctions(t) {
		if n.Functions[name] == nil {
			t.Errorf("the function %s is not in the list", name)
		}
	}
	met := map[string]bool{}
	for name, f := range n.Functions {
		n.each(t, name, 1, reflect.ValueOf(f), met)
	}
	for _, pointer := range n.Types {
		typ := reflect.TypeOf(pointer)
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if _, ofValue := typ.Elem().MethodByName(m.Name); ofValue {
				continue // Go itself says so
			}
			n.each(t, typ.Elem().Name()+"."+m.Name, 0, m.Func, met)
		}
	}
	for _, name := range n.Optional {
		if !met[name] {
			t.Errorf("no operand %q", name)
		}
	}
}

// each calls f once for each operand that can be nil. first is the number of the
// first operand.
func (n Nils) each(t *testing.T, name string, first int, f reflect.Value, met map[string]bool) {
	typ := f.Type()
	for i := range typ.NumIn() {
		in := typ.In(i)
		if typ.IsVariadic() && i == typ.NumIn()-1 {
			in = in.Elem()
		}
		if k := in.Kind(); k != reflect.Pointer && k != reflect.Func && k != reflect.Interface {
			continue
		}
		operand := name + " " + string(rune('0'+first+i))
		met[operand] = true
		var args []reflect.Value
		for k := range typ.NumIn() {
			switch at := typ.In(k); {
			case k == i:
				args = append(args, reflect.Zero(in))
			case typ.IsVariadic() && k == typ.NumIn()-1:
			default:
				args = append(args, n.operand(at))
			}
		}
		got := recovered(f, args)
		if slices.Contains(n.Optional, operand) {
			if got != nil {
				t.Errorf("%s may be nil, but: %v", operand, got)
			}
		} else if text, ok := got.(string); !ok || !strings.HasPrefix(text, n.Prefix) || !strings.HasSuffix(text, " is nil") {
			t.Errorf("%s is nil: got %v", operand, got)
		}
	}
}

func (n Nils) operand(typ reflect.Type) reflect.Value {
	if x := n.Operand(typ); x != nil {
		return reflect.ValueOf(x)
	}
	return reflect.Zero(typ)
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

// exportedFunctions returns the names of the exported functions of the package in
// the present folder that have a parameter.
func exportedFunctions(t *testing.T) (names []string) {
	for _, file := range parsedFiles(t) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && f.Type.Params.NumFields() > 0 {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// parsedFiles returns the files of the package in the present folder.
func parsedFiles(t *testing.T) (parsed []*ast.File) {
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
		parsed = append(parsed, file)
	}
	return parsed
}

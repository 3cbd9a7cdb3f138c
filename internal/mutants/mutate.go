package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// chosen is the variable of the environment that has the number of the fault.
const chosen = "MUTANT"

// fault is a part of a file that is another one.
type fault struct{ where, is, was string }

// mutate writes copies of the files with all their faults, and the overlay with which
// go builds them instead.
func mutate(files []string, scratch string) (faults []fault, overlay string, err error) {
	if len(files) == 0 {
		return nil, "", errors.New("no files")
	}
	dir := filepath.Dir(files[0])
	p, err := load(dir)
	if err != nil {
		return nil, "", err
	}
	replace := map[string]string{}
	write := func(name, text string) error {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(scratch, filepath.Base(name))
		return os.WriteFile(replace[path], []byte(text), 0o600)
	}
	for _, name := range files {
		tree := p.trees[filepath.Base(name)]
		if filepath.Dir(name) != dir || tree == nil {
			return nil, "", fmt.Errorf("%s is no file of the package in %s", name, dir)
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, "", err
		}
		m := &mutator{pkg: p, src: string(src), faults: faults}
		ast.PreorderStack(tree, nil, m.visit)
		faults = m.faults
		if err := write(name, m.text()); err != nil {
			return nil, "", err
		}
	}
	if err := write(filepath.Join(dir, "mutant_chosen.go"), fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

var mutantChosen = func() int { n, _ := strconv.Atoi(os.Getenv(%q)); return n }()
`, p.Name(), chosen)); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(scratch, "overlay.json")
	return faults, overlay, os.WriteFile(overlay, text, 0o600)
}

// pkg is a package with its types.
type pkg struct {
	*types.Package
	types.Info
	fset  *token.FileSet
	trees map[string]*ast.File
}

// load reads the package in a folder.
func load(dir string) (*pkg, error) {
	list, err := output("go", "list", "-f", `{{range .GoFiles}}{{.}} {{end}}`, "./"+dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{
		fset: token.NewFileSet(), trees: map[string]*ast.File{},
		Info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}},
	}
	var trees []*ast.File
	for _, name := range strings.Fields(list) {
		tree, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		p.trees[name] = tree
		trees = append(trees, tree)
	}
	exports, err := output("go", "list", "-export", "-deps", "-f", `{{.ImportPath}} {{.Export}}`, "./"+dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(exports) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})}
	p.Package, err = conf.Check(dir, p.fset, trees, &p.Info)
	return p, err
}

// point is an expression with faults. Points are nested or apart.
type point struct {
	from, to int    // in the file
	typ      string // of the expression
	first    int    // number of the first fault
	is       []string
}

// mutator makes the faults of a file.
type mutator struct {
	*pkg
	src    string
	faults []fault
	points []point
}

// others are the operators that could have been meant.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
}

// visit adds the faults of a node, and reports whether to look into it.
func (m *mutator) visit(n ast.Node, above []ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR // a constant or a type can't depend on the environment
	case *ast.ArrayType, *ast.KeyValueExpr, *ast.CaseClause:
		m.within(n, above)
		return false
	case *ast.IncDecStmt:
		if loop, isLoop := above[len(above)-1].(*ast.ForStmt); isLoop && loop.Post == n {
			return true
		}
		m.step(n)
	case *ast.AssignStmt:
		if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && m.isNumber(n.Lhs[0]) {
			m.add(n.Rhs[0], m.typeOf(n.Lhs[0]), "-("+m.of(n.Rhs[0])+")")
		}
	case *ast.IfStmt:
		m.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.condition(n.Cond)
		}
	case ast.Expr:
		return m.expr(n)
	}
	return true
}

// within visits those parts of a node that may depend on the environment.
func (m *mutator) within(n ast.Node, above []ast.Node) {
	var parts []ast.Node
	switch n := n.(type) {
	case *ast.KeyValueExpr: // the key of an array is a constant
		parts = append(parts, n.Value)
	case *ast.CaseClause:
		sw, isSwitch := above[len(above)-2].(*ast.SwitchStmt)
		for _, e := range n.List {
			if isSwitch && sw.Tag == nil {
				m.condition(e)
				parts = append(parts, e)
			}
		}
		for _, s := range n.Body {
			parts = append(parts, s)
		}
	}
	for _, part := range parts {
		ast.PreorderStack(part, append(slices.Clone(above), n), m.visit)
	}
}

// condition adds the negation of a condition that isn't a comparison.
func (m *mutator) condition(e ast.Expr) {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.ParenExpr:
		return // which has faults of its own
	}
	m.add(e, "bool", "!("+m.of(e)+")")
}

// expr adds the faults of an expression, and reports whether to look into it.
func (m *mutator) expr(e ast.Expr) bool {
	is := m.Types[e]
	if is.IsType() {
		return false
	}
	if is.Value != nil {
		m.number(e, is)
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if (e.Op == token.ADD || e.Op == token.SUB) && !m.isNumber(e) {
			return true
		}
		var is []string
		for _, op := range others[e.Op] {
			is = append(is, m.of(e.X)+" "+op.String()+" "+m.of(e.Y))
		}
		m.add(e, m.typeOf(e), is...)
	case *ast.UnaryExpr:
		if e.Op == token.NOT || e.Op == token.SUB {
			m.add(e, m.typeOf(e), m.of(e.X))
		}
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); ok && m.Uses[f] != nil && m.Uses[f].Parent() == types.Universe {
			if other := map[string]string{"min": "max", "max": "min"}[f.Name]; other != "" {
				m.add(e, m.typeOf(e), other+m.of(e)[len(f.Name):])
			}
		}
	}
	return true
}

// number adds one to a number that is written out, and subtracts one from it.
func (m *mutator) number(e ast.Expr, is types.TypeAndValue) {
	basic, ok := types.Default(is.Type).Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || is.Value.Kind() != constant.Int {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return // a name
	}
	bits := 8 * int(types.SizesFor("gc", runtime.GOARCH).Sizeof(basic))
	signed := basic.Info()&types.IsUnsigned == 0
	if signed {
		bits--
	}
	var others []string
	for _, by := range []int64{1, -1} {
		other := constant.BinaryOp(is.Value, token.ADD, constant.MakeInt64(by))
		if constant.BitLen(other) <= bits && (signed || constant.Sign(other) >= 0) { // its type can hold it
			others = append(others, other.ExactString())
		}
	}
	m.add(e, m.typeOf(e), others...)
}

// step adds to x++ and x-- that they go the other way.
func (m *mutator) step(n *ast.IncDecStmt) {
	ops := [2]string{" += ", " -= "}
	if n.Tok == token.DEC {
		ops[0], ops[1] = ops[1], ops[0]
	}
	x, typ := m.of(n.X), m.typeOf(n.X)
	at := m.fault(n, x+ops[1]+"1")
	// The operand of an assignment must stand outside of the choice.
	m.points = append(m.points, point{
		from: m.offset(n.X.End()), to: m.offset(n.End()), first: at,
		typ: "", is: []string{fmt.Sprintf("%sfunc() %s { one := %s(1); if mutantChosen == %d { return -one }; return one }()", ops[0], typ, typ, at)},
	})
}

// add adds faults of an expression.
func (m *mutator) add(e ast.Expr, typ string, is ...string) {
	if len(is) == 0 {
		return
	}
	p := point{from: m.offset(e.Pos()), to: m.offset(e.End()), typ: typ, is: is, first: len(m.faults) + 1}
	for _, text := range is {
		m.fault(e, text)
	}
	m.points = append(m.points, p)
}

// fault adds one to the list and returns its number.
func (m *mutator) fault(n ast.Node, is string) int {
	where := m.fset.Position(n.Pos())
	m.faults = append(m.faults, fault{fmt.Sprintf("%s:%d", filepath.Base(where.Filename), where.Line), is, m.of(n)})
	return len(m.faults)
}

// text returns the file with a choice at each point.
func (m *mutator) text() string {
	slices.SortStableFunc(m.points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var b strings.Builder
	m.write(&b, 0, len(m.src), m.points)
	return b.String()
}

// write writes a part of the file, of which points are in it.
func (m *mutator) write(b *strings.Builder, from, to int, points []point) {
	for len(points) > 0 {
		p := points[0]
		n := 1
		for n < len(points) && points[n].from < p.to {
			n++
		}
		b.WriteString(m.src[from:p.from])
		if p.typ == "" {
			b.WriteString(p.is[0])
		} else {
			fmt.Fprintf(b, "func() %s { switch mutantChosen { ", p.typ)
			for i, text := range p.is {
				fmt.Fprintf(b, "case %d: return %s; ", p.first+i, text)
			}
			b.WriteString("}; return ")
			m.write(b, p.from, p.to, points[1:n])
			b.WriteString(" }()")
		}
		from, points = p.to, points[n:]
	}
	b.WriteString(m.src[from:to])
}

// of returns the text of a node.
func (m *mutator) of(n ast.Node) string { return m.src[m.offset(n.Pos()):m.offset(n.End())] }

func (m *mutator) offset(at token.Pos) int { return m.fset.Position(at).Offset }

// typeOf returns the name of an expression's type.
func (m *mutator) typeOf(e ast.Expr) string {
	return types.TypeString(types.Default(m.Types[e].Type), func(p *types.Package) string {
		if p == m.Package {
			return ""
		}
		return p.Name()
	})
}

// isNumber reports whether an expression is a number.
func (m *mutator) isNumber(e ast.Expr) bool {
	basic, ok := m.Types[e].Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

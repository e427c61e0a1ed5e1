package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkCore looks for what makes two runs of one seed differ.
func (l *linter) checkCore() {
	for _, f := range l.pkg.Syntax {
		comments := unorderedLines(l.pkg.Fset, f)
		ast.Inspect(f, func(n ast.Node) bool {
			l.checkNode(n, comments)
			return true
		})
	}
}

// unorderedLines are the lines on which a comment excuses a loop over a map.
func unorderedLines(fset *token.FileSet, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//")); strings.HasPrefix(text, "unordered:") {
				line := fset.Position(c.End()).Line
				lines[line], lines[fset.Position(group.End()).Line+1] = true, true
			}
		}
	}
	return lines
}

func (l *linter) checkNode(n ast.Node, unordered map[int]bool) {
	switch n := n.(type) {
	case *ast.GoStmt:
		l.report(n.Pos(), "a goroutine in a core package: only drivers run things side by side")
	case *ast.SelectStmt:
		l.report(n.Pos(), "a select in a core package: its choice is random")
	case *ast.ChanType:
		l.report(n.Pos(), "a channel in a core package: state machines take input and return")
	case *ast.SendStmt:
		l.report(n.Pos(), "a channel send in a core package: state machines take input and return")
	case *ast.DeferStmt:
		if strings.HasPrefix(l.path, "node") {
			l.report(n.Pos(), "a defer in node code: it would run after the process died")
		}
	case *ast.RangeStmt:
		l.checkRange(n, unordered)
	case *ast.CallExpr:
		l.checkCall(n, unordered)
	case *ast.Ident:
		l.checkFloat(n)
	case *ast.BasicLit:
		if n.Kind == token.FLOAT || n.Kind == token.IMAG {
			l.report(n.Pos(), "a float in a core package: integers only, they are equal on every machine")
		}
	}
}

func (l *linter) checkRange(n *ast.RangeStmt, unordered map[int]bool) {
	t := l.pkg.TypesInfo.TypeOf(n.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Map); ok && !unordered[l.pkg.Fset.Position(n.Pos()).Line] {
		l.report(n.Pos(), "a loop over a map: its order differs between runs; sort the keys, keep a slice, or say why in a comment \"unordered: ...\"")
	}
}

// bannedCalls, by package and function, and what to do instead.
var bannedCalls = map[string]string{
	"time.Now":              "time comes through the port",
	"time.Since":            "time comes through the port",
	"time.Until":            "time comes through the port",
	"time.Sleep":            "time comes through the port",
	"time.After":            "time comes through the port",
	"time.AfterFunc":        "time comes through the port",
	"time.NewTimer":         "time comes through the port",
	"time.NewTicker":        "time comes through the port",
	"time.Tick":             "time comes through the port",
	"sort.Slice":            "the sort is not stable; use slices.SortStableFunc",
	"sort.Sort":             "the sort is not stable; use slices.SortStableFunc",
	"slices.SortFunc":       "the sort is not stable; use slices.SortStableFunc",
	"maps.Keys":             "the order differs between runs; use slices.Sorted(maps.Keys(m))",
	"maps.Values":           "the order differs between runs; sort the values",
	"maps.All":              "the order differs between runs; sort the keys",
	"maps.Collect":          "build the map in a known order",
	"reflect.Value.MapKeys": "the order differs between runs",
}

func (l *linter) checkCall(n *ast.CallExpr, unordered map[int]bool) {
	if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "recover" && l.path != "sim" && l.path != "sim/replay" {
		if _, builtin := l.pkg.TypesInfo.Uses[id].(*types.Builtin); builtin {
			l.report(n.Pos(), "a recover outside sim: a broken invariant must reach the World")
		}
	}
	name := l.callee(n)
	if name == "slices.Sorted" && len(n.Args) == 1 {
		if inner, ok := n.Args[0].(*ast.CallExpr); ok && l.callee(inner) == "maps.Keys" {
			unordered[l.pkg.Fset.Position(inner.Pos()).Line] = true
		}
	}
	if why, ok := bannedCalls[name]; ok && !(strings.HasPrefix(name, "maps.") && unordered[l.pkg.Fset.Position(n.Pos()).Line]) {
		l.report(n.Pos(), "%s in a core package: %s", name, why)
	}
}

// callee names a called function as package.Function, "" if it has no package.
func (l *linter) callee(n *ast.CallExpr) string {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := l.pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
		return ""
	}
	return f.Pkg().Path() + "." + f.Name()
}

func (l *linter) checkFloat(n *ast.Ident) {
	obj, ok := l.pkg.TypesInfo.Uses[n].(*types.TypeName)
	if !ok || obj.Pkg() != nil {
		return
	}
	switch obj.Name() {
	case "float32", "float64", "complex64", "complex128":
		l.report(n.Pos(), "a float in a core package: integers only, they are equal on every machine")
	}
}

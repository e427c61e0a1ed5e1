package main

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "tidemark"

// linter collects the faults of one package.
type linter struct {
	pkg    *packages.Package
	path   string // below the module
	row    row
	root   string
	faults []string
}

// lint checks every package of the module at dir, with the overlay's files in
// place of those on disk, and returns a line for each fault, sorted.
func lint(dir string, overlay map[string][]byte) ([]string, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports,
		Dir:     root,
		Overlay: overlay,
	}, "./...")
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			faults = append(faults, fmt.Sprintf("%s: does not build: %v", pkg.PkgPath, pkg.Errors[0]))
			continue
		}
		faults = append(faults, lintPackage(pkg, root)...)
	}
	slices.Sort(faults)
	return slices.Compact(faults), nil
}

func lintPackage(pkg *packages.Package, root string) []string {
	l := &linter{pkg: pkg, path: strings.TrimPrefix(pkg.PkgPath, module+"/"), root: root}
	var ok bool
	if l.row, ok = rowOf(l.path); !ok {
		return []string{l.path + ": the package is not in the import table of cmd/simlint: add it, or move the code"}
	}
	l.checkComment()
	l.checkImports()
	if l.row.core {
		l.checkCore()
	}
	return l.faults
}

func (l *linter) report(pos token.Pos, format string, v ...any) {
	p := l.pkg.Fset.Position(pos)
	name, err := filepath.Rel(l.root, p.Filename)
	if err != nil {
		name = p.Filename
	}
	l.faults = append(l.faults, fmt.Sprintf("%s:%d: %s", name, p.Line, fmt.Sprintf(format, v...)))
}

// checkComment asks for a package comment.
func (l *linter) checkComment() {
	for _, f := range l.pkg.Syntax {
		if f.Doc != nil {
			return
		}
	}
	if len(l.pkg.Syntax) > 0 {
		l.report(l.pkg.Syntax[0].Package, "package %s has no package comment: say what it is for", l.pkg.Name)
	}
}

// bannedImports take a core package out of the simulator's hands.
var bannedImports = []string{
	"context", "crypto/rand", "hash/maphash", "io/fs", "io/ioutil", "log", "log/slog", "math/rand", "math/rand/v2",
	"net", "os", "runtime", "sync", "sync/atomic", "syscall", "testing", "unsafe", "unique", "weak",
}

func (l *linter) checkImports() {
	for _, f := range l.pkg.Syntax {
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			l.checkImport(spec.Pos(), path)
		}
	}
}

func (l *linter) checkImport(pos token.Pos, path string) {
	own, inModule := strings.CutPrefix(path, module+"/")
	first, _, _ := strings.Cut(path, "/")
	switch {
	case inModule:
		if !mayImport(l.row, own) {
			l.report(pos, "%s may not import %s: see the import table of cmd/simlint", l.path, own)
		}
	case strings.Contains(first, "."):
		if !mayUse(l.row, path) {
			l.report(pos, "%s may not use %s: see the import table of cmd/simlint", l.path, path)
		}
		if path == kmsg && slices.Contains(domainOnly, l.path) {
			l.report(pos, "%s takes domain types: the protocol's stay in node/broker and node/client", l.path)
		}
	case l.row.core:
		for _, banned := range bannedImports {
			if path == banned || banned != "unsafe" && strings.HasPrefix(path, banned+"/") {
				l.report(pos, "%s is core and may not import %s: time, chance, files and sockets come through the port", l.path, path)
			}
		}
	}
}

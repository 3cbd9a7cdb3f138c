package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// writeProxy fills a folder with the published modules as a module proxy serves
// them, made from the committed files.
func writeProxy(root, folder, version string) error {
	// Package zip doesn't take a worktree of git for a repository.
	clone := filepath.Join(folder, "clone")
	if _, err := output(root, nil, "git", "clone", "--quiet", "--no-checkout", root, clone); err != nil {
		return err
	}
	defer os.RemoveAll(clone)
	for _, dir := range published {
		if err := writeModule(clone, folder, dir, version); err != nil {
			return fmt.Errorf("module %s: %w", modulePath(dir), err)
		}
	}
	return nil
}

func writeModule(repository, folder, dir, version string) error {
	path := modulePath(dir)
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	base := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	subdir := strings.TrimPrefix(dir, ".")
	file, err := os.Create(filepath.Join(base, version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromVCS(file, module.Version{Path: path, Version: version}, repository, "HEAD", subdir); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	mod, err := output(repository, nil, "git", "show", "HEAD:"+filepath.ToSlash(filepath.Join(subdir, "go.mod")))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339)),
		version + ".mod":  mod + "\n",
	} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// guard serves the other proxies of a GOPROXY list, but doesn't know anything of the
// modules of this repository nor of what their paths begin with: not every proxy
// says "not found" of what it doesn't have, and go takes another answer as final. It
// returns the list to use instead, without what is no proxy.
func guard(list string) (string, error) {
	handler := http.NewServeMux()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	var guarded []string
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		target, err := url.Parse(entry)
		switch {
		case err != nil:
			return "", err
		case target.Scheme == "file":
			guarded = append(guarded, entry)
			continue
		case target.Host == "":
			continue // off, direct
		}
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
		prefix := fmt.Sprintf("/%d", len(guarded))
		guarded = append(guarded, fmt.Sprintf("http://%s%s", listener.Addr(), prefix))
		handler.Handle(prefix+"/", http.StripPrefix(prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@")
			if isOurs(path) || strings.HasPrefix(rootModule, path+"/") {
				http.NotFound(w, r)
				return
			}
			proxy.ServeHTTP(w, r)
		})))
	}
	go http.Serve(listener, handler)
	return strings.Join(guarded, ","), nil
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"rnicmmu/sweep"
)

// versionText is version, commit and Go, as --version prints them.
func versionText() string {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return fmt.Sprintf("rnicmmu %s, commit %s, %s", sweep.Version, commit, runtime.Version())
}

package measure

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Manifest is manifest.json: where a result comes from.
type Manifest struct {
	Tool string `json:"tool"`
	Build
	Go              string  `json:"go"`
	ConfigHash      string  `json:"config_hash"`            // HashBytes of config.resolved.yaml
	SummaryHash     string  `json:"summary_hash,omitempty"` // HashBytes of summary.json
	Seed            uint64  `json:"seed"`
	Trace           string  `json:"trace"`      // file that was replayed; empty: synthetic
	TraceHash       string  `json:"trace_hash"` // of the trace's accesses; empty without one
	Started         string  `json:"started"`    // RFC 3339
	WallS           float64 `json:"wall_s"`
	PeakMemoryBytes uint64  `json:"peak_memory_bytes"` // of the process so far
}

// Build is the program that made a result. Two equal ones compute the same.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // of the source, "-dirty" with local changes; empty when unknown
	Binary  string `json:"binary"` // HashBytes of the program where Commit does not tell its code, else empty
}

// ThisBuild is this program, whose version it is told.
func ThisBuild(version string) Build {
	b := Build{Version: version, Commit: commit()}
	if b.Commit == "" || strings.HasSuffix(b.Commit, dirty) {
		b.Binary = ownHash()
	}
	return b
}

// ownHash hashes the program once, for it may be replaced while it runs.
var ownHash = sync.OnceValue(func() string {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		path, _ := os.Executable()
		data, _ = os.ReadFile(path) // of none the hash is as good as any
	}
	return HashBytes(data)
})

// NewManifest describes a run of this program that started at started and ends
// now.
func NewManifest(version string, config []byte, seed uint64, traceHash string, started time.Time) Manifest {
	return Manifest{
		Tool: "rnicmmu", Build: ThisBuild(version), Go: runtime.Version(),
		ConfigHash: HashBytes(config), Seed: seed, TraceHash: traceHash,
		Started: started.Format(time.RFC3339), WallS: time.Since(started).Seconds(),
		PeakMemoryBytes: PeakMemory(),
	}
}

// dirty ends the commit of a program built with local changes.
const dirty = "-dirty"

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, suffix string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			suffix = dirty
		}
	}
	if revision == "" {
		return ""
	}
	return revision + suffix
}

// PeakMemory is the largest resident set of this process in bytes (VmHWM of
// proc_pid_status(5)), or, where the system does not tell, what the Go runtime
// has obtained from it.
func PeakMemory() uint64 {
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
				kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 54)
				if err == nil {
					return kib << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}

package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// curveOf runs the command by itself.
func curveOf(args ...string) (string, error) {
	var out bytes.Buffer
	c := mrcCommand()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

// Worked out by hand: pages 0, 1, 2, 0 with two ways of LRU miss four times,
// with four entries three times.
func TestCurve(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "small.csv", "op,va,len\nW,0xfff,2\nR,0x2000,64\nR,0,64\nW,0x9000,8\n")
	const header = "trace,page_bytes,refs,policy,ways,entries,misses,cold_misses\n"
	for _, c := range []struct{ args, want string }{
		{"--entries 2,4 --accesses 3", "small,4096,4,lru,full,2,4,3\nsmall,4096,4,lru,full,4,3,3\n"},
		{"--entries 2 --ways 1 --accesses 3", "small,4096,4,direct,1,2,4,3\n"},
		{"--policy fifo --ways 2 --accesses 3", "small,4096,4,fifo,2,64,3,3\n"},
		{"--page 2MiB", "small,2097152,4,lru,full,64,1,1\n"},
	} {
		got, err := curveOf(append([]string{path}, strings.Fields(c.args)...)...)
		if err != nil || got != header+c.want {
			t.Errorf("mrc %s: %v\n%swant\n%s", c.args, err, got, header+c.want)
		}
	}
}

func TestCurveBadInput(t *testing.T) {
	dir := t.TempDir()
	sends := put(t, dir, "sends.csv", "op,va,len\nS,0,64\n")
	bad := put(t, dir, "bad.csv", "op,va,len\nR,zzz,64\n")
	for _, c := range []struct{ args, want string }{
		{"redis --page 2KiB", "--page 2KiB: a power of two from 4KiB is due"},
		{"redis --page 12KiB", "a power of two from 4KiB is due"},
		{"redis --page 4096", "a unit is due"},
		{"redis --ways 0", "full or a number from 1 to 67108864 is due"},
		{"redis --ways half", "full or a number from 1 to 67108864 is due"},
		{"redis --policy nru", `--policy "nru": lru or fifo is due`},
		{"redis --entries 100 --ways 3", "--entries: 100 lines do not divide into sets of 3 ways"},
		{"redis --entries 24 --ways 4", "must be a power of two"},
		{"redis --entries 0", "at least one entry"},
		{"redis --entries x", "--entries"},
		{"redis --ways 4294967296", "full or a number"},
		{"nowhere.csv", "nowhere.csv: no such file"},
		{sends, "sends.csv: no access names an address"},
		{bad, "bad.csv:2: "},
		{"", "TRACE is due"},
	} {
		out, err := curveOf(strings.Fields(c.args)...)
		if err == nil || out != "" || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("mrc %s: error %v, output %q; want %q", c.args, err, out, c.want)
		}
	}
}

// The embedded example, against two rows of an independent simulator.
func TestCurveOfExample(t *testing.T) {
	out, err := curveOf("redis", "--entries", "64,128")
	if err != nil || !strings.HasSuffix(out, "\nredis,4096,685000,lru,full,64,154023,12682\nredis,4096,685000,lru,full,128,126836,12682\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTraceName(t *testing.T) {
	for _, name := range []string{"redis", "a/redis.csv.gz", "redis.csv", "/b/redis.pcap", "redis.pcap.gz"} {
		if got := traceName(filepath.FromSlash(name)); got != "redis" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rnicmmu/calibrate"
	"rnicmmu/components/dmabench"
	"rnicmmu/configs"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// One link is compared in brief, and everything is kept.
func TestCalibrate(t *testing.T) {
	dir := t.TempDir()
	got := tool(t, dir, "calibrate", "pcie", "--gen", "3", "--lanes", "8", "--brief", "--out", "kept", "--format", "svg")
	if got.code != 0 {
		t.Fatalf("exit %d, %q", got.code, got.stderr)
	}
	for _, text := range []string{"Closed forms: 30 of 30 within 1 %", "Rules of sizing: 7 of 7 met", "profile nfp6000-haswell\n",
		"LAT_DMA_RD (ns): 15 of 15 within", "nfp6000-broadwell: ", " 0 unnamed"} {
		if !strings.Contains(got.stdout, text) {
			t.Errorf("no %q on standard output: %s", text, got.stdout)
		}
	}
	for name, rows := range map[string]int{"closed.csv": 31, "checks.csv": 8, "machines.csv": 1 + 2*164} {
		f, err := os.Open(filepath.Join(dir, "kept", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if all, err := csv.NewReader(f).ReadAll(); err != nil || len(all) != rows {
			t.Errorf("%s: %d rows, %v, want %d", name, len(all), err, rows)
		}
	}
	for _, name := range []string{"nfp6000-haswell.yaml", "nfp6000-broadwell.yaml", "measuring-device.yaml", "figures/latency-nfp6000-haswell.svg",
		"figures/bandwidth-nfp6000-broadwell.svg", "figures/closed.svg"} {
		if _, err := os.Stat(filepath.Join(dir, "kept", name)); err != nil {
			t.Error(err)
		}
	}
}

// The machines' configurations are taken by run as they are, and are the profiles;
// the device's parameters stand apart.
func TestCalibrateKeepsConfigurations(t *testing.T) {
	dir := t.TempDir()
	c := calibration{machines: calibrate.Machines()}
	if err := c.writeMachines(io.Discard, dir); err != nil {
		t.Fatal(err)
	}
	for _, m := range c.machines {
		var got, want platform.Spec
		doc, err := configs.ReadFile(filepath.Join(dir, m.Profile+".yaml"))
		if err == nil {
			_, err = configs.Load(&got, configs.Sources{Files: []configs.Document{doc}})
		}
		if err == nil {
			_, err = configs.Load(&want, configs.Sources{Profile: m.Profile})
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, or another configuration than the profile", m.Profile, err)
		}
	}
	text := read(t, dir, "measuring-device.yaml")
	if !strings.HasPrefix(text, "# ") || !strings.Contains(text, "\ndevice:") || strings.Contains(text, "\npcie:") {
		t.Errorf("the device: %s", text)
	}
}

// What is wanted of a rule's share can be read from its row.
func TestCheckTable(t *testing.T) {
	c := calibration{checks: []calibrate.Check{{Rule: "r", Value: "34 PH", Share: 1, Want: 1, Least: true},
		{Rule: "r", Value: "33 PH", Share: 0.97, Want: 1}, {Rule: "r", Value: "7 tags", Share: 0.5, Want: 0.5, Least: true}}}
	var got []string
	for _, row := range c.checkTable() {
		got = append(got, strings.Join(row[2:], " "))
	}
	if want := []string{"share wanted than_share good", "1 full 1 true", "0.97 less 1 true", "0.5 equal 0.5 true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A calibration that is interrupted says so, and that it keeps nothing.
func TestCalibrateInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f := calibrateFlags{gens: []int{3}, lanes: []int{8}, out: filepath.Join(t.TempDir(), "kept"), formats: []string{"svg"}}
	err := calibratePCIe(ctx, io.Discard, &f)
	if !errors.Is(err, sweep.ErrInterrupted) || !strings.Contains(err.Error(), "keeps nothing") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(f.out); !os.IsNotExist(err) {
		t.Errorf("a folder was made, %v", err)
	}
}

// What is missed is printed in brief too, named or not, and fails; what is met
// is printed only in full.
func TestCalibrationPrints(t *testing.T) {
	point := calibrate.Point{Test: dmabench.ReadBandwidth, Bytes: 64, Value: 100}
	explained := &calibrate.Outlier{Reason: "another cause", With: []string{"pcie.mps=128B"}}
	c := calibration{
		closed: []calibrate.ClosedRow{{Width: calibrate.Width{Gen: 3, Lanes: 8}, Bytes: 64, Simulated: 1.02e9, Closed: 1e9},
			{Width: calibrate.Width{Gen: 3, Lanes: 8}, Bytes: 64, Traffic: calibrate.Reads, Simulated: 1e9, Closed: 1e9},
			{Width: calibrate.Width{Gen: 3, Lanes: 8}, Bytes: 64, Traffic: calibrate.Both, Simulated: 1e9, Closed: 1e9}},
		checks:   []calibrate.Check{{Rule: "a rule", Value: "7 tags", Share: 0.5, Want: 1, Least: true}},
		machines: []*calibrate.Machine{{Title: "A machine", Profile: "some"}},
		rows: [][]calibrate.Row{{{Point: point, Model: 101, With: math.NaN()}, {Point: point, Model: 150, With: math.NaN()},
			{Point: point, Model: 120, With: 101, Outlier: explained}}},
	}
	for _, brief := range []bool{false, true} {
		var b bytes.Buffer
		if c.print(&b, brief) {
			t.Error("what is missed passes")
		}
		out := b.String()
		for _, text := range []string{"+2.000 %", "Closed forms: 2 of 3 within 1 %; worst +2.000 % (Gen3 x8, write of 64 B)", "FAIL",
			"Rules of sizing: 0 of 1 met", "+50.0 %  OUTLIER without a reason", "BW_DMA_RD (Gb/s): 1 of 3 within; worst +50.0 %",
			"some: 1 of 3 within", "1 named outliers, worst +50.0 %; 1 unnamed"} {
			if !strings.Contains(out, text) {
				t.Errorf("brief %v: no %q in %s", brief, text, out)
			}
		}
		for _, text := range []string{"101.00   +1.0 %\n", "outlier: another cause; with pcie.mps=128B +1.0 %"} {
			if strings.Contains(out, text) == brief {
				t.Errorf("brief %v: %q is there, or is not: %s", brief, text, out)
			}
		}
	}
}

// The flags leave the links that they name.
func TestCalibrateWidths(t *testing.T) {
	f := calibrateFlags{gens: []int{4, 3}, lanes: []int{16}}
	got, err := f.widths()
	if err != nil || len(got) != 2 || got[0] != (calibrate.Width{Gen: 3, Lanes: 16}) || got[1] != (calibrate.Width{Gen: 4, Lanes: 16}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := (&calibrateFlags{}).widths(); err != nil || len(got) != len(calibrate.Widths()) {
		t.Errorf("%d of %d, %v", len(got), len(calibrate.Widths()), err)
	}
}

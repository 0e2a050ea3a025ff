package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"rnicmmu/calibrate"
	"rnicmmu/components/dmabench"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/plots"
	"rnicmmu/sweep"
)

// write puts the tables, the machines' and the device's parameters and the figures
// into a folder and names the files.
func (c *calibration) write(w io.Writer, f *calibrateFlags) error {
	if err := measure.MakeFolder(f.out); err != nil {
		return err
	}
	for _, table := range []struct {
		name string
		rows [][]string
	}{{"closed.csv", c.closedTable()}, {"checks.csv", c.checkTable()}, {"machines.csv", c.machineTable()}} {
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(table.rows); err != nil {
			return err
		}
		if err := keep(w, filepath.Join(f.out, table.name), b.Bytes()); err != nil {
			return err
		}
	}
	if err := c.writeMachines(w, f.out); err != nil {
		return err
	}
	files, err := plots.DrawOverlays(f.out, f.formats, c.overlays())
	for _, name := range files {
		fmt.Fprintln(w, name)
	}
	return err
}

// writeMachines puts link and host of each machine into a configuration that run
// takes, and the device, which is the same in all, into a file beside them.
func (c *calibration) writeMachines(w io.Writer, folder string) error {
	device, machine, err := deviceKeys()
	if err != nil {
		return err
	}
	for i, m := range c.machines {
		spec, err := m.Load(nil)
		if err != nil {
			return err
		}
		head := fmt.Sprintf("# Link and host of: %s; rnicmmu run takes it\n", m.Title)
		if err := keepSpec(w, filepath.Join(folder, m.Profile+".yaml"), head, &spec, device); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		head = "# The measuring device of rnicmmu calibrate pcie, of all machines; no configuration of rnicmmu run\n"
		if err := keepSpec(w, filepath.Join(folder, "measuring-device.yaml"), head, &spec, machine); err != nil {
			return err
		}
	}
	return nil
}

// deviceKeys are the parameters of the device, and those of link and host.
func deviceKeys() (device, machine []string, err error) {
	params, err := configs.Params(&calibrate.Spec{})
	for _, p := range params {
		if strings.HasPrefix(p.Key, "device.") {
			device = append(device, p.Key)
		} else {
			machine = append(machine, p.Key)
		}
	}
	return device, machine, err
}

// keepSpec writes parameters but for those without.
func keepSpec(w io.Writer, path, head string, spec *calibrate.Spec, without []string) error {
	text, err := configs.Marshal(spec, true, without...)
	if err != nil {
		return err
	}
	return keep(w, path, append([]byte(head), text...))
}

func keep(w io.Writer, path string, data []byte) error {
	err := measure.WriteFile(path, data)
	if err == nil {
		fmt.Fprintln(w, path)
	}
	return err
}

func exact(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 8, 64)
}

func (c *calibration) closedTable() [][]string {
	rows := [][]string{{"gen", "lanes", "bytes", "traffic", "simulated_bytes_per_s", "closed_bytes_per_s", "error", "good"}}
	for i := range c.closed {
		r := &c.closed[i]
		rows = append(rows, []string{strconv.Itoa(r.Gen), strconv.Itoa(r.Lanes), strconv.Itoa(int(r.Bytes)), r.Traffic.String(),
			exact(r.Simulated), exact(r.Closed), exact(r.Error()), strconv.FormatBool(r.Good())})
	}
	return rows
}

func (c *calibration) checkTable() [][]string {
	rows := [][]string{{"rule", "value", "share", "wanted", "than_share", "good"}}
	for i := range c.checks {
		x := &c.checks[i]
		rows = append(rows, []string{x.Rule, x.Value, exact(x.Share), x.Wanted(), exact(x.Want), strconv.FormatBool(x.Good())})
	}
	return rows
}

func (c *calibration) machineTable() [][]string {
	rows := [][]string{{"profile", "system", "test", "bytes", "unit", "measured", "model", "error", "within",
		"outlier", "settings", "model_with_settings", "file"}}
	for i, m := range c.machines {
		for k := range c.rows[i] {
			r := &c.rows[i][k]
			reason, settings := "", ""
			if r.Outlier != nil {
				reason, settings = r.Outlier.Reason, strings.Join(r.Outlier.With, " ")
			}
			rows = append(rows, []string{m.Profile, m.System, r.Test.String(), strconv.Itoa(int(r.Bytes)), unitOf(r.Test),
				exact(r.Value), exact(r.Model), exact(r.Error()), strconv.FormatBool(r.Within()), reason, settings, exact(r.With), r.File})
		}
	}
	return rows
}

// overlays are the figures: latency and bandwidth of each machine, and the
// bandwidths of the widest link of each generation.
func (c *calibration) overlays() []plots.Overlay {
	footer := "rnicmmu " + sweep.Version
	var all []plots.Overlay
	for i, m := range c.machines {
		latency := plots.Overlay{Name: "latency-" + m.Profile, Title: "Latency: points " + m.Title + ", lines the model",
			X: "bytes of a transfer", Y: "mean latency (ns)", LogX: true, Footer: footer + " · " + calibrate.DataSource,
			Panels: []plots.OverlayPanel{c.panel(i, "command path", dmabench.CommandRead, dmabench.CommandWriteRead),
				c.panel(i, "DMA engine", dmabench.DMARead, dmabench.DMAWriteRead)}}
		bandwidth := plots.Overlay{Name: "bandwidth-" + m.Profile, Title: "Bandwidth: points " + m.Title + ", lines the model",
			X: "bytes of a transfer", Y: "payload (Gb/s)", LogX: true, Footer: latency.Footer,
			Panels: []plots.OverlayPanel{c.panel(i, "reads", dmabench.ReadBandwidth), c.panel(i, "writes", dmabench.WriteBandwidth),
				c.panel(i, "both, each direction", dmabench.BothBandwidth)}}
		all = append(all, latency, bandwidth)
	}
	return append(all, c.closedOverlay(footer))
}

// panel shows tests of a machine.
func (c *calibration) panel(machine int, title string, tests ...dmabench.Test) plots.OverlayPanel {
	p := plots.OverlayPanel{Title: title}
	for _, t := range tests {
		s := plots.OverlaySeries{Name: t.String()}
		for k := range c.rows[machine] {
			if r := &c.rows[machine][k]; r.Test == t {
				s.X, s.Points, s.Line = append(s.X, float64(r.Bytes)), append(s.Points, r.Value), append(s.Line, r.Model)
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// closedOverlay shows the widest link of each generation.
func (c *calibration) closedOverlay(footer string) plots.Overlay {
	o := plots.Overlay{Name: "closed", Title: "Payload bandwidth by size: points simulated, lines closed forms", X: "bytes of a transfer",
		Y: "payload (GB/s)", LogX: true, LogY: true, Footer: footer}
	widest := map[int]int{}
	for i := range c.closed {
		widest[c.closed[i].Gen] = max(widest[c.closed[i].Gen], c.closed[i].Lanes)
	}
	for t := range calibrate.NumTraffics {
		p := plots.OverlayPanel{Title: t.String()}
		for i := range c.closed {
			r := &c.closed[i]
			name := fmt.Sprintf("Gen%d x%d", r.Gen, r.Lanes)
			if r.Traffic != t || r.Lanes != widest[r.Gen] {
				continue
			}
			if n := len(p.Series); n == 0 || p.Series[n-1].Name != name {
				p.Series = append(p.Series, plots.OverlaySeries{Name: name})
			}
			s := &p.Series[len(p.Series)-1]
			s.X, s.Points, s.Line = append(s.X, float64(r.Bytes)), append(s.Points, r.Simulated/1e9), append(s.Line, r.Closed/1e9)
		}
		o.Panels = append(o.Panels, p)
	}
	return o
}

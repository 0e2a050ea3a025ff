package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"rnicmmu/sweep"
	"rnicmmu/verify/protocol"
)

// verify protocol reports each system, as text or a line of JSON.
func TestVerifyProtocol(t *testing.T) {
	var text strings.Builder
	if err := verifyProtocols(t.Context(), &text, []string{"notifier"}, &protocolFlags{bounds: protocol.Small}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "s: holds\n"); n != len(protocol.Systems("notifier", protocol.Small)) {
		t.Errorf("%d systems hold:\n%s", n, text.String())
	}
	text.Reset()
	if err := verifyProtocols(t.Context(), &text, []string{"notifier"}, &protocolFlags{bounds: protocol.Small, json: true}); err != nil {
		t.Fatal(err)
	}
	var r protocol.Report
	if err := json.NewDecoder(strings.NewReader(text.String())).Decode(&r); err != nil || r.System != "notifier" || r.Verdict != protocol.Holds || r.States == 0 {
		t.Errorf("%+v, error %v", r, err)
	}
}

// What cannot be explored is refused, and an interrupt is told as one.
func TestVerifyProtocolRefuses(t *testing.T) {
	var text strings.Builder
	for _, c := range []struct{ name, bounds, want string }{{"odp", protocol.Small, `unknown protocol "odp"`}, {"ats", "huge", `--bounds "huge"`}} {
		if err := verifyProtocols(t.Context(), &text, []string{c.name}, &protocolFlags{bounds: c.bounds}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: error %v", c.name, c.bounds, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := verifyProtocols(ctx, &text, []string{"ats"}, &protocolFlags{bounds: protocol.Small}); !errors.Is(err, sweep.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
}

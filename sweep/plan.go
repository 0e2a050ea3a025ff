package sweep

import (
	"fmt"
	"strings"

	"rnicmmu/configs"
	"rnicmmu/model"
	"rnicmmu/platform"
)

// Point is one configuration of a sweep.
type Point struct {
	Settings []model.Setting // the axes' values, in the order of the axes
	Spec     platform.Spec
	ID       string // hash of configuration and input: its folder under points/
}

// Plan is the points of an experiment, in order.
type Plan struct {
	Experiment *configs.Experiment
	Input      *platform.Input
	Points     []Point
	Hash       string // of the whole plan
}

// NewPlan applies the experiment's axes to the base configuration. Values of
// which no point can be built are errors here, before anything runs.
func NewPlan(e *configs.Experiment, base platform.Spec, input *platform.Input) (*Plan, error) {
	plan := &Plan{Experiment: e, Input: input}
	var ids strings.Builder
	seen := map[string]int{}
	for _, settings := range e.Points() {
		spec, err := configs.WithOverrides(base, e.Overrides(settings))
		if err != nil {
			return nil, err
		}
		err = spec.Check()
		if err == nil {
			err = spec.CheckWarmup(input)
		}
		if err != nil {
			return nil, fmt.Errorf("point %s: %w", describe(settings), err)
		}
		id, err := pointID(&spec, input)
		if err != nil {
			return nil, err
		}
		if n, twice := seen[id]; twice {
			return nil, fmt.Errorf("points %s and %s are the same; give each axis different values", describe(plan.Points[n].Settings), describe(settings))
		}
		seen[id] = len(plan.Points)
		plan.Points = append(plan.Points, Point{Settings: settings, Spec: spec, ID: id})
		ids.WriteString(id)
	}
	plan.Hash = hashText(ids.String())
	return plan, nil
}

func pointID(spec *platform.Spec, input *platform.Input) (string, error) {
	id, err := configs.Hash(spec)
	if err != nil || input == nil {
		return id, err
	}
	return hashText(id + input.Hash), nil
}

func describe(settings []model.Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.Key + "=" + s.Value
	}
	return strings.Join(parts, " ")
}

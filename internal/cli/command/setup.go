package command

import "github.com/tenon-agent/tenon/internal/app"

// SetUp reads the configuration for the project of a directory; empty is the current one. Its keys are in no output from now on.
func (env *Env) SetUp(dir string) (*app.Setup, error) {
	s, err := app.NewSetup(env.Getenv, app.ProjectOf(dir), BuildOf(env.Version).Version)
	if err == nil {
		env.secrets = s.Secrets
	}
	return s, err
}

// Bounds returns the configuration and the limits of work in a directory.
func (env *Env) Bounds(dir string) (*app.Setup, app.Bounds, error) {
	dir, err := app.Directory(dir)
	if err != nil {
		return nil, app.Bounds{}, err
	}
	setup, err := app.NewSetup(env.Getenv, dir, BuildOf(env.Version).Version)
	if err != nil {
		return nil, app.Bounds{}, err
	}
	return setup, setup.Bounds(dir), nil
}
